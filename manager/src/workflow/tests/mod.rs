//! Operations with a manager that dies, services that fail, and callers that change their minds.

mod authority;
mod crashes;
mod failures;
mod formats;
mod stopped;
mod stops;
mod woken;
mod writes;

use std::sync::Arc;

use common::api::error::ErrorCode;
use common::api::manager::{CreateDeployment, UpdateDeployment, WriteQuery};
use common::model::{DeploymentName, DeploymentStatus, Operation, OperationStatus};
use serde_json::json;

use self::writes::{WRITES, Write, bed_for, content, create, prepared, web};
use super::OperationHandle;
use crate::app::App;
use crate::deployer::Job;
use crate::deployer::fake::{Interruption, REFUSED, UNKNOWN};
use crate::error::Error;
use crate::store::kv::SledKv;
use crate::testing::{DyingKv, LateKv, TestBed, copied};
