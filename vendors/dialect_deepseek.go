package vendors

import "baton/engine/outcome"

// deepseek sends the code invalid_request_error with everything; status and message
// tell. It limits requests at once, for the whole account.
// https://api-docs.deepseek.com/quick_start/error_codes
var deepseek = outcome.Dialect{
	Name: "deepseek",
	Rules: []outcome.Rule{
		{Message: "Content Exists Risk", Class: outcome.Filtered},
		{Message: "Insufficient Balance", Class: outcome.Billing},
		{Message: "Authentication Fails", Class: outcome.Auth},
		{Message: "Model Not Exist", Class: outcome.BadModel},
		{Status: 429, Class: outcome.RateConcurrency},
	},
	CodesAreNoise: true,
	LimitScope:    outcome.ScopeVendor,
	RequestID:     []string{"X-Ds-Trace-Id", "X-Request-Id"},
	AuthHeader:    authorization, AuthPrefix: bearer,
	// Continuing a message is a beta with a base URL of its own.
	Prefill: outcome.Prefill{Message: `"prefix":true`, BasePath: "/beta"},
}
