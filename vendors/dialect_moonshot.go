package vendors

import "baton/engine/outcome"

// moonshot has no codes, only types; three of them come as 429 and mean three things.
// https://platform.kimi.com/docs/api/errors
var moonshot = outcome.Dialect{
	Name: "moonshot",
	Rules: []outcome.Rule{
		{Code: "content_filter", Class: outcome.Filtered},
		{Message: "exceeded model token limit", Class: outcome.ContextOverflow},
		{Code: "invalid_authentication_error", Class: outcome.Auth},
		{Code: "incorrect_api_key_error", Class: outcome.Auth},
		{Code: "permission_denied_error", Class: outcome.Permission},
		{Code: "resource_not_found_error", Class: outcome.BadModel},
		{Code: "engine_overloaded_error", Class: outcome.Overload},
		{Code: "exceeded_current_quota_error", Class: outcome.Billing},
		{Code: "rate_limit_reached_error", Message: "concurren", Class: outcome.RateConcurrency},
		{Code: "rate_limit_reached_error", Message: "TPM", Class: outcome.RateTokens},
		{Code: "rate_limit_reached_error", Class: outcome.Rate},
	},
	LimitScope: outcome.ScopeVendor,
	RequestID:  []string{"Msh-Request-Id", "X-Request-Id"},
	AuthHeader: authorization, AuthPrefix: bearer,
	Prefill: outcome.Prefill{Message: `"partial":true`},
}
