package vendors

import "baton/engine/outcome"

// bailian is Alibaba's Bailian (DashScope, Model Studio) in OpenAI mode; codes of
// its native mode leak through and are known too.
//
// insufficient_quota is no bill here but a token rate that recovers within a minute,
// while bills come as 400, 403 and 429. Rates are per main account and model, and
// enforced per second; growth is limited apart from them.
// https://help.aliyun.com/zh/model-studio/error-code
var bailian = outcome.Dialect{
	Name: "bailian",
	Rules: []outcome.Rule{
		{Code: "DataInspectionFailed", Class: outcome.Filtered},
		{Code: "data_inspection_failed", Class: outcome.Filtered},
		{Message: "DataInspectionFailed", Class: outcome.Filtered},
		{Message: "data may contain inappropriate content", Class: outcome.Filtered},

		{Message: "Range of input length should be", Class: outcome.ContextOverflow},

		{Code: "Arrearage", Class: outcome.Billing},
		{Message: "account is in good standing", Class: outcome.Billing},
		{Code: "CommodityNotPurchased", Class: outcome.Billing},
		{Code: "PrepaidBillOverdue", Class: outcome.Billing},
		{Code: "PostpaidBillOverdue", Class: outcome.Billing},
		{Code: "AllocationQuota.FreeTierOnly", Class: outcome.Billing, Scope: theModel},
		{Message: "free tier of the model has been exhausted", Class: outcome.Billing, Scope: theModel},
		{Message: "Free allocated quota exceeded", Class: outcome.Billing, Scope: theModel},

		{Code: "InvalidApiKey", Class: outcome.Auth},
		{Code: "invalid_api_key", Class: outcome.Auth},
		{Code: "AccessDenied.Unpurchased", Class: outcome.Permission, Scope: theModel},
		{Code: "Model.AccessDenied", Class: outcome.Permission, Scope: theModel},
		{Code: "Workspace.AccessDenied", Class: outcome.Permission},
		{Code: "AccessDenied", Class: outcome.Permission},

		{Code: "ModelNotFound", Class: outcome.BadModel},
		{Code: "model_not_found", Class: outcome.BadModel},
		{Code: "model_not_supported", Class: outcome.BadModel},
		{Message: "Model not exist", Class: outcome.BadModel},

		{Message: "Batch requests are being throttled", Class: outcome.Rate}, // speaks of capacity and means batches
		// Before the rates: its message speaks of too many requests and means the vendor's capacity.
		{Code: "ModelServingError", Class: outcome.Overload},
		{Code: "ModelUnavailable", Class: outcome.Overload},
		{Message: "due to system capacity limits", Class: outcome.Overload},

		{Code: "Throttling.BurstRate", Class: outcome.RateSlope},
		{Code: "limit_burst_rate", Class: outcome.RateSlope},
		{Message: "Request rate increased too quickly", Class: outcome.RateSlope},
		{Code: "Throttling.AllocationQuota", Class: outcome.RateTokens},
		{Code: "insufficient_quota", Class: outcome.RateTokens},
		{Message: "Allocated quota exceeded", Class: outcome.RateTokens},
		{Code: "Throttling*", Class: outcome.Rate},
		{Code: "LimitRequests", Class: outcome.Rate},
		{Code: "limit_requests", Class: outcome.Rate},

		{Code: "RequestTimeOut", Class: outcome.Timeout},
		{Status: 500, Message: "timed out", Class: outcome.Timeout},
		{Message: "Response timeout!", Class: outcome.Timeout},
		{Code: "InvalidParameter*", Class: outcome.BadRequest},
		{Code: "invalid_parameter_error", Class: outcome.BadRequest},
		{Code: "internal_error", Class: outcome.Server},
	},
	LimitScope: outcome.ScopeModel,
	RequestID:  []string{"X-Request-Id", "X-Dashscope-Request-Id"},
	AuthHeader: authorization, AuthPrefix: bearer,
	Prefill: outcome.Prefill{Message: `"partial":true`},
}
