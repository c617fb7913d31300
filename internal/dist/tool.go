package main

import "context"

// tool runs a Go program of others, at the version that its name ends with.
func (r *release) tool(ctx context.Context, env []string, name string, args ...string) error {
	_, err := output(ctx, r.root, append([]string{"GOFLAGS=", "GOWORK=off"}, env...), "go", append([]string{"run", name}, args...)...)
	return err
}
