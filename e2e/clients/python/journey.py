"""A generated client deploys, pages, watches, updates and deletes: `journey.py URL NAMESPACE`."""

import json
import sys

from deployment_manager import Client
from deployment_manager.api.deployments import (
    create_deployment,
    delete_deployment,
    get_deployment,
    list_deployments,
    update_deployment,
)
from deployment_manager.api.operations import get_operation, watch_operation
from deployment_manager.models import (
    CreateDeployment,
    Deployment,
    DeploymentStatus,
    ErrorBody,
    ErrorCode,
    NewConfiguration,
    Operation,
    OperationStatus,
)

NAMES = ["python-a", "python-b", "python-c"]


def configuration(name: str, colour: str) -> str:
    properties = {"data": {"colour": colour}}
    resource = {"name": name, "type": "ConfigMap", "properties": properties}
    return json.dumps({"resources": [resource]})


def deploy(client: Client, name: str, namespace: str) -> None:
    body = CreateDeployment(name=name, content=configuration(name, "blue"), namespace=namespace)
    created = create_deployment.sync(client=client, body=body)
    assert isinstance(created, Deployment), created
    assert created.state.status == DeploymentStatus.DEPLOYED, created


def page(client: Client, namespace: str) -> list[str]:
    found, token = [], None
    while True:
        more = {} if token is None else {"page_token": token}
        listed = list_deployments.sync(client=client, namespace=namespace, limit=1, **more)
        found += [deployment.name for deployment in listed.items]
        token = listed.next_page_token
        if not token:
            return found


def update_and_watch(client: Client, name: str) -> None:
    body = NewConfiguration(content=configuration(name, "red"))
    accepted = update_deployment.sync(name, client=client, body=body, prefer="respond-async")
    assert isinstance(accepted, Operation), accepted
    events = watch_operation.sync(accepted.id, client=client)
    assert '"DONE"' in events, events
    operation = get_operation.sync(accepted.id, client=client)
    assert operation.status == OperationStatus.DONE and not operation.error, operation


def delete(client: Client, name: str) -> None:
    deleted = delete_deployment.sync(name, client=client)
    assert isinstance(deleted, Deployment), deleted
    missing = get_deployment.sync(name, client=client)
    assert isinstance(missing, ErrorBody) and missing.code == ErrorCode.NOT_FOUND, missing


def main(url: str, namespace: str) -> None:
    client = Client(base_url=url, timeout=60)
    for name in NAMES:
        deploy(client, name, namespace)
    found = page(client, namespace)
    assert found == NAMES, found
    update_and_watch(client, NAMES[0])
    for name in NAMES:
        delete(client, name)


main(*sys.argv[1:])
