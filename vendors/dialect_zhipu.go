package vendors

import "baton/engine/outcome"

// zhipu has business codes, which are strings of digits; nearly everything else comes
// as 429, bills too. It limits requests at once, per model and account.
// https://docs.bigmodel.cn/cn/faq/api-code
var zhipu = outcome.Dialect{
	Name: "zhipu",
	Rules: []outcome.Rule{
		{Code: "100*", Class: outcome.Auth},
		{Code: "1110", Class: outcome.Permission, Scope: theVendor}, // account inactive
		{Code: "1111", Class: outcome.Permission, Scope: theVendor}, // no such account
		{Code: "1112", Class: outcome.Permission, Scope: theVendor}, // account locked
		{Code: "1113", Class: outcome.Billing},
		{Code: "1211", Class: outcome.BadModel},
		{Code: "1212", Class: outcome.BadModel}, // not in this way of calling
		{Code: "1220", Class: outcome.Permission},
		{Code: "1221", Class: outcome.BadModel},
		{Code: "1222", Class: outcome.BadModel},
		{Code: "1234", Class: outcome.Server},
		{Code: "1261", Class: outcome.ContextOverflow},
		{Code: "1300", Class: outcome.Filtered},
		{Code: "1301", Class: outcome.Filtered},
		{Code: "121*", Class: outcome.BadRequest},

		{Code: "1302", Class: outcome.RateConcurrency},
		{Code: "1303", Class: outcome.Rate},
		{Code: "1304", Class: outcome.Rate}, // the day's calls
		{Code: "1305", Class: outcome.Overload},
		{Code: "1312", Class: outcome.Overload},
		{Code: "1308", Class: outcome.RateTokens}, // a plan's quota: the message has the time of its reset
		{Code: "1310", Class: outcome.RateTokens},
		{Code: "1309", Class: outcome.Billing},                     // the plan ran out
		{Code: "1311", Class: outcome.Permission, Scope: theModel}, // the plan lacks the model

		{Status: 434, Class: outcome.Permission},
		{Status: 435, Class: outcome.TooLarge},
	},
	LimitScope: outcome.ScopeModel,
	RequestID:  []string{"X-Log-Id", "X-Request-Id"},
	AuthHeader: authorization, AuthPrefix: bearer,
}

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

// ark is Volcengine's. Codes have a dot and a detail; overload and bills come as 429.
// https://www.volcengine.com/docs/82379/1299023
var ark = outcome.Dialect{
	Name: "ark",
	Rules: []outcome.Rule{
		{Code: "OutofContextError", Class: outcome.ContextOverflow},
		{Code: "SensitiveContentDetected*", Class: outcome.Filtered},
		{Code: "InputTextSensitiveContentDetected*", Class: outcome.Filtered},
		{Code: "OutputTextSensitiveContentDetected*", Class: outcome.Filtered},
		{Code: "InputImageSensitiveContentDetected*", Class: outcome.Filtered},
		{Code: "OutputImageSensitiveContentDetected*", Class: outcome.Filtered},
		{Code: "InputTextRiskDetection*", Class: outcome.Filtered},
		{Code: "OutputTextRiskDetection*", Class: outcome.Filtered},
		{Code: "AuthenticationError", Class: outcome.Auth},
		{Code: "AccountOverdueError", Class: outcome.Billing},
		{Code: "AccessDenied*", Class: outcome.Permission},
		{Code: "InvalidEndpointOrModel*", Class: outcome.BadModel},
		{Code: "ModelNotOpen", Class: outcome.BadModel},
		{Code: "ServerOverloaded", Class: outcome.Overload},
		{Code: "RequestBurstTooFast", Class: outcome.RateSlope},
		{Code: "InflightBatchsizeExceeded", Class: outcome.RateConcurrency},
		{Code: "QuotaExceeded*", Class: outcome.Billing},
		{Code: "SetLimitExceeded", Class: outcome.Billing, Scope: theModel},
		{Code: "RateLimitExceeded.EndpointTPMExceeded", Class: outcome.RateTokens},
		{Code: "ModelAccountTpmRateLimitExceeded", Class: outcome.RateTokens},
		{Code: "RateLimitExceeded*", Class: outcome.Rate},
		{Code: "ModelAccountRpmRateLimitExceeded", Class: outcome.Rate},
		{Code: "ModelAccountIpmRateLimitExceeded", Class: outcome.Rate},
		{Code: "AccountRateLimitExceeded", Class: outcome.Rate, Scope: theVendor},
		{Code: "MissingParameter*", Class: outcome.BadRequest},
		{Code: "InvalidParameter*", Class: outcome.BadRequest},
		{Code: "InternalServiceError", Class: outcome.Server},
	},
	LimitScope: outcome.ScopeModel,
	RequestID:  []string{"X-Request-Id", "X-Tt-Logid"},
	AuthHeader: authorization, AuthPrefix: bearer,
}
