import { expect, test } from "vitest";
import { changesAddress, deploymentAddress, operationAddress, view } from "./router.ts";

test("every address leads to the view that it was made for", () => {
  for (const deployment of ["web", "a.b-c", "a/b c%"]) {
    expect(view(deploymentAddress(deployment))).toEqual({ name: "deployment", deployment });
    expect(view(changesAddress(deployment))).toEqual({ name: "changes", deployment });
    expect(view(operationAddress(deployment, "op-1"))).toEqual({ name: "operation", deployment, operation: "op-1" });
  }
});

test("the start is the list, and a strange address is no view", () => {
  for (const start of ["/ui", "/ui/", "/ui/deployments", "/ui/deployments/"]) {
    expect(view(start)).toEqual({ name: "deployments" });
  }
  for (const strange of ["/ui/other", "/ui/deployments/a/b", "/ui/deployments/a/operations/b/c", "/ui/other/a"]) {
    expect(view(strange)).toEqual({ name: "unknown" });
  }
});
