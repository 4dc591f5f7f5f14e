// A generated client deploys, pages, watches, updates and deletes: `clients URL NAMESPACE`.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"clients/api"
)

var names = []string{"go-a", "go-b", "go-c"}

func configuration(name, colour string) string {
	const text = "resources:\n- name: %s\n  type: ConfigMap\n  properties:\n    data: {colour: %s}\n"
	return fmt.Sprintf(text, name, colour)
}

func deploy(ctx context.Context, client *api.ClientWithResponses, name, namespace string) error {
	body := api.CreateDeployment{Name: name, Content: configuration(name, "blue"), Namespace: &namespace}
	answer, err := client.CreateDeploymentWithResponse(ctx, nil, body)
	if err != nil {
		return err
	}
	if answer.JSON201 == nil || answer.JSON201.State.Status != api.Deployed {
		return fmt.Errorf("create %s: %s", name, answer.Body)
	}
	return nil
}

func page(ctx context.Context, client *api.ClientWithResponses, namespace string) ([]string, error) {
	var found []string
	limit := uint(1)
	params := &api.ListDeploymentsParams{Namespace: &namespace, Limit: &limit}
	for {
		answer, err := client.ListDeploymentsWithResponse(ctx, params)
		if err != nil {
			return nil, err
		}
		if answer.JSON200 == nil {
			return nil, fmt.Errorf("list: %s", answer.Body)
		}
		for _, deployment := range answer.JSON200.Items {
			found = append(found, deployment.Name)
		}
		if answer.JSON200.NextPageToken == nil {
			return found, nil
		}
		params.PageToken = answer.JSON200.NextPageToken
	}
}

func update(ctx context.Context, client *api.ClientWithResponses, name string) (string, error) {
	var body api.UpdateDeployment
	if err := body.FromNewConfiguration(api.NewConfiguration{Content: configuration(name, "red")}); err != nil {
		return "", err
	}
	prefer := "respond-async"
	answer, err := client.UpdateDeploymentWithResponse(ctx, name, &api.UpdateDeploymentParams{Prefer: &prefer}, body)
	if err != nil {
		return "", err
	}
	if answer.JSON202 == nil {
		return "", fmt.Errorf("update %s: %s", name, answer.Body)
	}
	return answer.JSON202.Id, nil
}

// watch reads the events of an operation as they come, until it has ended.
func watch(ctx context.Context, client *api.ClientWithResponses, id string) error {
	answer, err := client.WatchOperation(ctx, id, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	kind, operation := "", api.Operation{}
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimSpace(value)
		if name == "event" {
			kind = value
		}
		if name == "data" && kind == "operation" {
			if err := json.Unmarshal([]byte(value), &operation); err != nil {
				return err
			}
		}
	}
	if operation.Status != api.DONE || operation.Error != nil {
		return fmt.Errorf("the events ended with %+v", operation)
	}
	return nil
}

func remove(ctx context.Context, client *api.ClientWithResponses, name string) error {
	answer, err := client.DeleteDeploymentWithResponse(ctx, name, nil)
	if err != nil {
		return err
	}
	if answer.JSON200 == nil {
		return fmt.Errorf("delete %s: %s", name, answer.Body)
	}
	missing, err := client.GetDeploymentWithResponse(ctx, name)
	if err != nil {
		return err
	}
	if missing.JSON404 == nil || missing.JSON404.Code != api.ErrorCodeNOTFOUND {
		return fmt.Errorf("get %s: %s", name, missing.Body)
	}
	return nil
}

func journey(ctx context.Context, url, namespace string) error {
	client, err := api.NewClientWithResponses(url)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := deploy(ctx, client, name, namespace); err != nil {
			return err
		}
	}
	found, err := page(ctx, client, namespace)
	if err != nil || !slices.Equal(found, names) {
		return fmt.Errorf("the pages have %v: %w", found, err)
	}
	operation, err := update(ctx, client, names[0])
	if err != nil {
		return err
	}
	if err := watch(ctx, client, operation); err != nil {
		return err
	}
	for _, name := range names {
		if err := remove(ctx, client, name); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	if err := journey(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
