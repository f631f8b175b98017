package vendors

import "baton/engine/outcome"

// openai is OpenAI's own and everybody's who imitates it: Lanyun as far as is known,
// Groq, Together, Fireworks, OpenRouter. Its errors are the common rules of package
// outcome. insufficient_quota is a bill here.
// https://developers.openai.com/api/docs/guides/error-codes
var openai = outcome.Dialect{
	Name:       "openai",
	LimitScope: outcome.ScopeKey,
	RequestID:  []string{"X-Request-Id", "X-Generation-Id", "Request-Id"},
	AuthHeader: authorization, AuthPrefix: bearer,
}

// azure has the key in a header of its own, deployments for models, and counts
// tokens per deployment.
var azure = outcome.Dialect{
	Name: "azure",
	Rules: []outcome.Rule{
		{Code: "content_filter", Class: outcome.Filtered},
		{Code: "DeploymentNotFound", Class: outcome.BadModel},
		{Code: "OperationNotSupported", Class: outcome.BadModel},
		{Status: 429, Message: "token rate limit", Class: outcome.RateTokens},
		{Status: 429, Message: "call rate limit", Class: outcome.Rate},
		{Code: "NoCapacity", Class: outcome.Overload},
		{Status: 429, Message: "at capacity", Class: outcome.Overload},
		{Status: 429, Message: "system is currently experiencing high demand", Class: outcome.Overload},
	},
	LimitScope: outcome.ScopeModel,
	RequestID:  []string{"Apim-Request-Id", "X-Request-Id", "X-Ms-Request-Id"},
	AuthHeader: "api-key",
}

// vllm is a server of one's own: integer codes, types named after Python classes,
// no rate limits.
var vllm = outcome.Dialect{
	Name: "vllm",
	Rules: []outcome.Rule{
		{Code: "NotFoundError", Class: outcome.BadModel},
		{Code: "AuthenticationError", Class: outcome.Auth},
		{Message: "EngineDead", Class: outcome.Server},
		{Message: "EngineCore encountered", Class: outcome.Server},
		{Message: "CUDA out of memory", Class: outcome.Overload},
	},
	LimitScope: outcome.ScopeVendor,
	RequestID:  []string{"X-Request-Id"},
	AuthHeader: authorization, AuthPrefix: bearer,
	Prefill: outcome.Prefill{Request: `"continue_final_message":true,"add_generation_prompt":false`},
}
