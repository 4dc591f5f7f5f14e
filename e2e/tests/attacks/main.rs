//! What the services bear: each attack is aimed at all three while others are served, and none may notice.
//!
//! No cluster is needed for it: a resourcifier without one answers, and that is what is asked here. What takes one, or a port
//! of its own, stands at the level that shows it:
//!
//! | attack | here | elsewhere |
//! |---|---|---|
//! | token in logs | `heads::tokens_are_neither_logged_nor_repeated` | `manager/src/http/tests/secrets.rs`, `resourcifier/src/kubectl/redact.rs` |
//! | path tricks: `..`, `%2f`, NUL, very long, look-alikes | `heads::paths_that_play_tricks_lead_nowhere` | `resourcifier/src/kubectl/request.rs` |
//! | header smuggling: two lengths, bare CR and LF, chunks | `heads::one_request_is_not_smuggled_in_another`, `heads::heads_are_bounded` | `common/src/server/head.rs` |
//! | DNS rebinding: a page's own name for this machine | – | `common/src/server/head.rs`, `common/tests/transport.rs` |
//! | SSRF through template references | `registries::references_lead_to_nothing_inside_of_the_managers_network` | `manager/registry/src/transport/` (`address_policy`: names that change, `client`: spellings) |
//! | a hostile registry | `registries::a_registry_that_drips_floods_or_leads_elsewhere_holds_nobody_else_up` | `manager/registry/tests/registries/hostile_server.rs`, `manager/registry/tests/registries/git/hostile.rs` |
//! | a hostile template | `templates::templates_without_end_or_measure_hold_nobody_else_up` | `expandybird/tests/service/attacks.rs`, `expandybird/tests/sandbox/attacks.rs` |
//! | a hostile template's output | – | `e2e/tests/journeys/hostile.rs`, `resourcifier/tests/cluster/hostile.rs`, `resourcifier/src/plan/reserved.rs` |
//! | HTML in names | `templates::names_that_are_markup_or_look_alike_are_only_text`, `heads::names_that_are_markup_are_answered_as_json` | `resourcifier/tests/cluster/hostile.rs` |
//! | 10,000 idle connections | `connections::ten_thousand_idle_connections_keep_nobody_out`, `connections::heads_that_do_not_come_end` | – |
//! | slow bodies | `bodies::bodies_that_do_not_come_end_while_others_are_served`, `bodies::a_body_that_is_announced_too_large_is_refused_unread` | `common/tests/transport.rs` |
//! | gzip bombs | `bodies::compressed_bodies_are_refused_before_they_are_unpacked` | `manager/registry/tests/registries/hostile_server.rs` |
//! | 500 clients, a tenth of them hostile | `soak` | – |

mod bodies;
mod connections;
mod heads;
mod registries;
mod services;
mod soak;
mod templates;
