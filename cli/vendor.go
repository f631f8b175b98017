package cli

import (
	"github.com/spf13/cobra"

	"baton/engine/control"
)

func (a *app) restoreCommand() *cobra.Command {
	return &cobra.Command{
		Use: "restore VENDOR", Short: "End a vendor's fault; it is tried at once and comes back over a ramp",
		Example: "  baton restore lanyun", Args: cobra.ExactArgs(1),
		RunE: a.sends(func(args []string) (control.Command, error) {
			return &control.ClearFault{Meta: a.meta(), Vendor: args[0]}, nil
		}, func(args []string) string { return args[0] + " restored" }),
	}
}

func (a *app) drainCommand() *cobra.Command {
	var now bool
	c := &cobra.Command{
		Use: "drain VENDOR", Short: "Take a vendor out of service: no new traffic", Example: "  baton drain lanyun\n  baton drain lanyun --now", Args: cobra.ExactArgs(1),
		RunE: a.sends(func(args []string) (control.Command, error) {
			return &control.Drain{Meta: a.meta(), Vendor: args[0], Now: now}, nil
		}, func(args []string) string { return args[0] + " drained" }),
	}
	c.Flags().BoolVar(&now, "now", false, "also cut the requests under way there")
	return c
}

func (a *app) undrainCommand() *cobra.Command {
	return &cobra.Command{
		Use: "undrain VENDOR", Short: "Let traffic to a drained vendor again", Example: "  baton undrain lanyun", Args: cobra.ExactArgs(1),
		RunE: a.sends(func(args []string) (control.Command, error) {
			return &control.Undrain{Meta: a.meta(), Vendor: args[0]}, nil
		}, func(args []string) string { return args[0] + " takes traffic again" }),
	}
}

func (a *app) enableCommand() *cobra.Command {
	return &cobra.Command{
		Use: "enable VENDOR", Short: "Put a vendor that was disabled for its account back into service", Example: "  baton enable lanyun", Args: cobra.ExactArgs(1),
		RunE: a.sends(func(args []string) (control.Command, error) {
			return &control.Enable{Meta: a.meta(), Vendor: args[0]}, nil
		}, func(args []string) string { return args[0] + " enabled" }),
	}
}
