package vendors

import "baton/engine/outcome"

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
