package vendors

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"baton/engine/outcome"
)

// row is one line of a vendor's error table: what came, and what it means.
type row struct {
	name    string
	dialect string
	status  int
	body    string

	class  outcome.Class
	reason string
	scope  outcome.Scope
}

func (r row) attempt(t *testing.T) outcome.Attempt {
	t.Helper()
	d, ok := Dialect(r.dialect)
	if !ok {
		t.Fatalf("no dialect %q", r.dialect)
	}
	return outcome.Attempt{Phase: outcome.Header, Status: r.status, Body: []byte(r.body), Dialect: d}
}

const (
	vendorScope = outcome.ScopeVendor
	keyScope    = outcome.ScopeKey
	modelScope  = outcome.ScopeModel
)

var bailianRows = []row{
	{"input too long", "bailian", 400, `{"error":{"message":"Range of input length should be [1, 129024]","type":"invalid_request_error","param":null,"code":"invalid_parameter_error"}}`, outcome.ContextOverflow, "invalid_parameter_error", vendorScope},
	{"input too long, native", "bailian", 400, `{"code":"InvalidParameter","message":"Range of input length should be [1, 129024]","request_id":"x"}`, outcome.ContextOverflow, "InvalidParameter", vendorScope},
	{"max_tokens out of range", "bailian", 400, `{"error":{"message":"Range of max_tokens should be [1, 8192]","type":"invalid_request_error","param":null,"code":"invalid_parameter_error"}}`, outcome.BadRequest, "invalid_parameter_error", vendorScope},
	{"temperature", "bailian", 400, `{"error":{"message":"Temperature should be in [0.0, 2.0)","code":"InvalidParameter"}}`, outcome.BadRequest, "InvalidParameter", vendorScope},
	{"thinking without stream", "bailian", 400, `{"error":{"message":"parameter.enable_thinking must be set to false for non-streaming calls","code":"invalid_parameter_error"}}`, outcome.BadRequest, "invalid_parameter_error", vendorScope},
	{"model of a 400", "bailian", 400, `{"error":{"message":"Model not exist.","code":"InvalidParameter"}}`, outcome.BadModel, "InvalidParameter", modelScope},
	{"bill as 400", "bailian", 400, `{"error":{"message":"Access denied, please make sure your account is in good standing.","type":"Arrearage","param":null,"code":"Arrearage"},"request_id":"8605e472-81b4-9cd7-b04d-878e89847c14"}`, outcome.Billing, "Arrearage", vendorScope},
	{"moderation", "bailian", 400, `{"error":{"code":"data_inspection_failed","param":null,"message":"Input data may contain inappropriate content.","type":"data_inspection_failed"},"id":"chatcmpl-120e5847"}`, outcome.Filtered, "data_inspection_failed", vendorScope},
	{"moderation, native", "bailian", 400, `{"code":"DataInspectionFailed","message":"Output data may contain inappropriate content.","request_id":"x"}`, outcome.Filtered, "DataInspectionFailed", vendorScope},
	{"moderation inside a message", "bailian", 400, `{"error":{"message":"<400> InternalError.Algo.DataInspectionFailed: Input text data may contain inappropriate content.","type":"internal_error","code":"internal_error"}}`, outcome.Filtered, "internal_error", vendorScope},
	{"moderation behind data:", "bailian", 400, `data: {"error":{"code":"data_inspection_failed","param":null,"message":"Input data may contain inappropriate content.","type":"data_inspection_failed"},"id":"chatcmpl-1"}` + "\n\n", outcome.Filtered, "data_inspection_failed", vendorScope},
	{"wrong key", "bailian", 401, `{"error":{"message":"Incorrect API key provided.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, outcome.Auth, "invalid_api_key", keyScope},
	{"wrong key, native", "bailian", 401, `{"code":"InvalidApiKey","message":"Invalid API-key provided.","request_id":"x"}`, outcome.Auth, "InvalidApiKey", keyScope},
	{"access denied", "bailian", 403, `{"code":"AccessDenied","message":"Access denied.","request_id":"x"}`, outcome.Permission, "AccessDenied", keyScope},
	{"not bought", "bailian", 403, `{"code":"AccessDenied.Unpurchased","message":"Access to model denied. Please make sure you are eligible for using the model."}`, outcome.Permission, "AccessDenied.Unpurchased", modelScope},
	{"model access", "bailian", 403, `{"code":"Model.AccessDenied","message":"Model access denied."}`, outcome.Permission, "Model.AccessDenied", modelScope},
	{"workspace access", "bailian", 403, `{"code":"Workspace.AccessDenied","message":"Workspace access denied."}`, outcome.Permission, "Workspace.AccessDenied", keyScope},
	{"free tier as 403", "bailian", 403, `{"error":{"message":"The free tier of the model has been exhausted. If you wish to continue access the model on a paid basis, please disable the \"use free tier only\" mode in the management console.","type":"AllocationQuota.FreeTierOnly","param":null,"code":"AllocationQuota.FreeTierOnly"}}`, outcome.Billing, "AllocationQuota.FreeTierOnly", modelScope},
	{"model", "bailian", 404, `{"error":{"message":"The model qwen-maxi does not exist or you do not have access to it.","type":"invalid_request_error","param":null,"code":"model_not_found"}}`, outcome.BadModel, "model_not_found", modelScope},
	{"model, native", "bailian", 404, `{"code":"ModelNotFound","message":"Model can not be found."}`, outcome.BadModel, "ModelNotFound", modelScope},
	{"model in this mode", "bailian", 404, `{"error":{"code":"model_not_supported","message":"Unsupported model qwen-maxi for OpenAI compatibility mode."}}`, outcome.BadModel, "model_not_supported", modelScope},
	{"too large", "bailian", 413, ``, outcome.TooLarge, "too_large", vendorScope},
	{"throttled", "bailian", 429, `{"code":"Throttling","message":"Requests throttling triggered."}`, outcome.Rate, "Throttling", modelScope},
	{"throttled in route", "bailian", 429, `{"code":"Throttling","message":"Too many requests in route. Please try again later."}`, outcome.Rate, "Throttling", modelScope},
	{"requests, verbatim", "bailian", 429, `{"error":{"message":"You have exceeded your current request limit. For details, see: https://help.aliyun.com/zh/model-studio/error-code#rate-limit","type":"limit_requests","code":"limit_requests"}}`, outcome.Rate, "limit_requests", modelScope},
	{"requests, native", "bailian", 429, `{"code":"Throttling.RateQuota","message":"You have exceeded your request limit."}`, outcome.Rate, "Throttling.RateQuota", modelScope},
	{"requests, another", "bailian", 429, `{"code":"LimitRequests","message":"You exceeded your current requests list."}`, outcome.Rate, "LimitRequests", modelScope},
	{"slope", "bailian", 429, `{"error":{"message":"Request rate increased too quickly. To ensure system stability, please adjust your client logic to scale requests more smoothly over time.","type":"limit_burst_rate","code":"limit_burst_rate"}}`, outcome.RateSlope, "limit_burst_rate", modelScope},
	{"slope, native", "bailian", 429, `{"code":"Throttling.BurstRate","message":"Request rate increased too quickly."}`, outcome.RateSlope, "Throttling.BurstRate", modelScope},
	{"tokens, named like a bill", "bailian", 429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, outcome.RateTokens, "insufficient_quota", modelScope},
	{"tokens", "bailian", 429, `{"code":"Throttling.AllocationQuota","message":"Allocated quota exceeded, please increase your quota limit."}`, outcome.RateTokens, "Throttling.AllocationQuota", modelScope},
	{"free quota as 429", "bailian", 429, `{"code":"Throttling.AllocationQuota","message":"Free allocated quota exceeded."}`, outcome.Billing, "Throttling.AllocationQuota", modelScope},
	{"batch rate", "bailian", 429, `{"code":"Throttling.AllocationQuota","message":"Too many requests. Batch requests are being throttled due to system capacity limits. Please try again later."}`, outcome.Rate, "Throttling.AllocationQuota", modelScope},
	{"bill as 429, not bought", "bailian", 429, `{"code":"CommodityNotPurchased","message":"Commodity has not purchased yet."}`, outcome.Billing, "CommodityNotPurchased", vendorScope},
	{"bill as 429, prepaid", "bailian", 429, `{"code":"PrepaidBillOverdue","message":"The prepaid bill is overdue."}`, outcome.Billing, "PrepaidBillOverdue", vendorScope},
	{"bill as 429, postpaid", "bailian", 429, `{"code":"PostpaidBillOverdue","message":"The postpaid bill is overdue."}`, outcome.Billing, "PostpaidBillOverdue", vendorScope},
	{"internal", "bailian", 500, `{"error":{"message":"An internal error has occured, please try again later or contact service support.","type":"internal_error","code":"internal_error"}}`, outcome.Server, "internal_error", vendorScope},
	{"internal, algorithm", "bailian", 500, `{"code":"InternalError.Algo","message":"inference error"}`, outcome.Server, "InternalError.Algo", vendorScope},
	{"system", "bailian", 500, `{"code":"SystemError","message":"An system error has occured, please try again later."}`, outcome.Server, "SystemError", vendorScope},
	{"model service", "bailian", 500, `{"code":"ModelServiceFailed","message":"Failed to request model service."}`, outcome.Server, "ModelServiceFailed", vendorScope},
	{"timeout as 500", "bailian", 500, `{"code":"RequestTimeOut","message":"Request timed out, please try again later."}`, outcome.Timeout, "RequestTimeOut", vendorScope},
	{"timeout, short", "bailian", 500, `{"code":"InternalError","message":"Response timeout!"}`, outcome.Timeout, "InternalError", vendorScope},
	{"overload that speaks of requests", "bailian", 503, `{"code":"ModelServingError","message":"Too many requests. Your requests are being throttled due to system capacity limits. Please try again later."}`, outcome.Overload, "ModelServingError", vendorScope},
	{"unavailable", "bailian", 503, `{"code":"ModelUnavailable","message":"Model is unavailable, please try again later."}`, outcome.Overload, "ModelUnavailable", vendorScope},
	{"moderation inside a stream", "bailian", 200, `{"error":{"message":"Output data may contain inappropriate content.","type":"data_inspection_failed","param":null,"code":"data_inspection_failed"}}`, outcome.Filtered, "data_inspection_failed", vendorScope},
	{"rate inside a stream", "bailian", 200, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}`, outcome.RateTokens, "insufficient_quota", modelScope},
	{"batch too big", "bailian", 400, `{"error":{"message":"<400> InternalError.Algo.InvalidParameter: Value error, batch size is invalid, it should not be larger than 10.: input.contents","code":"InvalidParameter"}}`, outcome.BadRequest, "InvalidParameter", vendorScope},
	{"native framing", "bailian", 400, "id:1\nevent:error\n:HTTP_STATUS/400\ndata:{\"code\":\"InvalidParameter\",\"message\":\"Range of input length should be [1, 6000]\",\"request_id\":\"a-b-c-d\"}\n\n", outcome.ContextOverflow, "InvalidParameter", vendorScope},
}

var deepseekRows = []row{
	{"key", "deepseek", 401, `{"error":{"message":"Authentication Fails, Your api key: ****here is invalid","type":"authentication_error","param":null,"code":"invalid_request_error"}}`, outcome.Auth, "invalid_key", keyScope},
	{"bill", "deepseek", 402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, outcome.Billing, "billing", vendorScope},
	{"moderation", "deepseek", 400, `{"error":{"message":"Content Exists Risk","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`, outcome.Filtered, "content_filter", vendorScope},
	{"format", "deepseek", 400, `{"error":{"message":"Failed to deserialize the JSON body into the target type","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`, outcome.BadRequest, "bad_request", vendorScope},
	{"model", "deepseek", 400, `{"error":{"message":"Model Not Exist","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`, outcome.BadModel, "model_not_found", modelScope},
	{"context", "deepseek", 400, `{"error":{"message":"This model's maximum context length is 65536 tokens. However, you requested 80000 tokens.","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`, outcome.ContextOverflow, "context_length", vendorScope},
	{"parameters", "deepseek", 422, `{"error":{"message":"Invalid max_tokens value","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`, outcome.BadRequest, "bad_request", vendorScope},
	{"concurrency", "deepseek", 429, `{"error":{"message":"Rate limit reached","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, outcome.RateConcurrency, "concurrency", vendorScope},
	{"server", "deepseek", 500, `{"error":{"message":"Internal Server Error","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, outcome.Server, "server_error", vendorScope},
	{"overload", "deepseek", 503, `{"error":{"message":"Service is too busy","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, outcome.Overload, "overloaded", vendorScope},
	{"bill inside a stream", "deepseek", 200, `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, outcome.Billing, "billing", vendorScope},
}

var siliconflowRows = []row{
	{"model as a flat 400", "siliconflow", 400, `{"code":20012,"message":"Model does not exist. Please check it carefully.","data":null}`, outcome.BadModel, "20012", modelScope},
	{"parameter", "siliconflow", 400, `{"code":20015,"message":"The parameter is invalid. Please check again.","data":null}`, outcome.BadRequest, "20015", vendorScope},
	{"context", "siliconflow", 400, `{"code":20015,"message":"length of prompt_tokens (40000) must be less than max_seq_len (32768).","data":null}`, outcome.ContextOverflow, "20015", vendorScope},
	{"key as a bare string", "siliconflow", 401, `"Invalid token"`, outcome.Auth, "invalid_key", keyScope},
	{"key as a bare string, other", "siliconflow", 401, `"Api key is invalid"`, outcome.Auth, "invalid_key", keyScope},
	{"bill as 403", "siliconflow", 403, `{"code":30001,"message":"Sorry, your account balance is insufficient","data":null}`, outcome.Billing, "30001", vendorScope},
	{"real name", "siliconflow", 403, `{"code":30011,"message":"Real-name verification is needed for this model","data":null}`, outcome.Permission, "30011", keyScope},
	{"requests", "siliconflow", 429, `{"message":"Request was rejected due to rate limiting. Details: RPM limit reached.","data":null}`, outcome.Rate, "rate_limited", modelScope},
	{"tokens", "siliconflow", 429, `{"message":"Request was rejected due to rate limiting. Details: TPM limit reached.","data":null}`, outcome.RateTokens, "token_rate", modelScope},
	{"load", "siliconflow", 503, `{"code":50505,"message":"Model service overloaded. Please try again later.","data":null}`, outcome.Overload, "50505", vendorScope},
	{"load with a good status", "siliconflow", 200, `{"code":50505,"message":"Model service overloaded. Please try again later.","data":null}`, outcome.Overload, "50505", vendorScope},
	{"load as 504", "siliconflow", 504, ``, outcome.Overload, "overloaded", vendorScope},
}

var arkRows = []row{
	{"missing", "ark", 400, `{"error":{"code":"MissingParameter","message":"The request failed because it is missing one or multiple required parameters. Request ID: 021718067849899d92fcbe0865fdffdde","param":"","type":"BadRequest"}}`, outcome.BadRequest, "MissingParameter", vendorScope},
	{"invalid", "ark", 400, `{"error":{"code":"InvalidParameter.UnsupportedModel","message":"x","param":"","type":"BadRequest"}}`, outcome.BadRequest, "InvalidParameter.UnsupportedModel", vendorScope},
	{"context", "ark", 400, `{"error":{"code":"OutofContextError","message":"x","type":"BadRequest"}}`, outcome.ContextOverflow, "OutofContextError", vendorScope},
	{"sensitive", "ark", 400, `{"error":{"code":"SensitiveContentDetected","message":"x","type":"BadRequest"}}`, outcome.Filtered, "SensitiveContentDetected", vendorScope},
	{"sensitive input", "ark", 400, `{"error":{"code":"InputTextSensitiveContentDetected","message":"x","type":"BadRequest"}}`, outcome.Filtered, "InputTextSensitiveContentDetected", vendorScope},
	{"sensitive output", "ark", 400, `{"error":{"code":"OutputTextSensitiveContentDetected","message":"x","type":"BadRequest"}}`, outcome.Filtered, "OutputTextSensitiveContentDetected", vendorScope},
	{"risk", "ark", 400, `{"error":{"code":"InputTextRiskDetection","message":"x","type":"BadRequest"}}`, outcome.Filtered, "InputTextRiskDetection", vendorScope},
	{"key", "ark", 401, `{"error":{"code":"AuthenticationError","message":"The API key in the request is missing or invalid.","type":"Unauthorized"}}`, outcome.Auth, "AuthenticationError", keyScope},
	{"bill as 403", "ark", 403, `{"error":{"code":"AccountOverdueError","message":"The request failed because your account has an overdue balance.","type":"Forbidden"}}`, outcome.Billing, "AccountOverdueError", vendorScope},
	{"denied", "ark", 403, `{"error":{"code":"AccessDenied","message":"x","type":"Forbidden"}}`, outcome.Permission, "AccessDenied", keyScope},
	{"endpoint", "ark", 404, `{"error":{"code":"InvalidEndpointOrModel.NotFound","message":"The model or endpoint ep-x does not exist or you do not have access to it.","type":"NotFound"}}`, outcome.BadModel, "InvalidEndpointOrModel.NotFound", modelScope},
	{"not opened", "ark", 404, `{"error":{"code":"ModelNotOpen","message":"x","type":"NotFound"}}`, outcome.BadModel, "ModelNotOpen", modelScope},
	{"endpoint's requests", "ark", 429, `{"error":{"code":"RateLimitExceeded.EndpointRPMExceeded","message":"x Request ID: 0217","param":"","type":"TooManyRequests"}}`, outcome.Rate, "RateLimitExceeded.EndpointRPMExceeded", modelScope},
	{"endpoint's tokens", "ark", 429, `{"error":{"code":"RateLimitExceeded.EndpointTPMExceeded","message":"x","param":"","type":"TooManyRequests"}}`, outcome.RateTokens, "RateLimitExceeded.EndpointTPMExceeded", modelScope},
	{"account's requests", "ark", 429, `{"error":{"code":"ModelAccountRpmRateLimitExceeded","message":"x","type":"TooManyRequests"}}`, outcome.Rate, "ModelAccountRpmRateLimitExceeded", modelScope},
	{"account's tokens", "ark", 429, `{"error":{"code":"ModelAccountTpmRateLimitExceeded","message":"x","type":"TooManyRequests"}}`, outcome.RateTokens, "ModelAccountTpmRateLimitExceeded", modelScope},
	{"account", "ark", 429, `{"error":{"code":"AccountRateLimitExceeded","message":"x","type":"TooManyRequests"}}`, outcome.Rate, "AccountRateLimitExceeded", vendorScope},
	{"quota is a bill", "ark", 429, `{"error":{"code":"QuotaExceeded","message":"x","type":"TooManyRequests"}}`, outcome.Billing, "QuotaExceeded", vendorScope},
	{"own limit is a bill", "ark", 429, `{"error":{"code":"SetLimitExceeded","message":"x","type":"TooManyRequests"}}`, outcome.Billing, "SetLimitExceeded", modelScope},
	{"in flight", "ark", 429, `{"error":{"code":"InflightBatchsizeExceeded","message":"x","type":"TooManyRequests"}}`, outcome.RateConcurrency, "InflightBatchsizeExceeded", modelScope},
	{"overload as 429", "ark", 429, `{"error":{"code":"ServerOverloaded","message":"The service is currently unable to handle the request due to high load.","type":"TooManyRequests"}}`, outcome.Overload, "ServerOverloaded", vendorScope},
	{"slope", "ark", 429, `{"error":{"code":"RequestBurstTooFast","message":"x","type":"TooManyRequests"}}`, outcome.RateSlope, "RequestBurstTooFast", modelScope},
	{"internal", "ark", 500, `{"error":{"code":"InternalServiceError","message":"x","type":"InternalServerError"}}`, outcome.Server, "InternalServiceError", vendorScope},
}

var zhipuRows = []row{
	{"key", "zhipu", 401, `{"error":{"code":"1000","message":"身份验证失败"}}`, outcome.Auth, "1000", keyScope},
	{"key, header", "zhipu", 401, `{"error":{"code":"1001","message":"Header中未收到Authentication参数，无法进行身份验证"}}`, outcome.Auth, "1001", keyScope},
	{"key, expired", "zhipu", 401, `{"error":{"code":"1003","message":"Authentication Token已过期"}}`, outcome.Auth, "1003", keyScope},
	{"key, 1005", "zhipu", 401, `{"error":{"code":"1005","message":"x"}}`, outcome.Auth, "1005", keyScope},
	{"bill as 429", "zhipu", 429, `{"error":{"code":"1113","message":"您的账户已欠费，请充值后重试"}}`, outcome.Billing, "1113", vendorScope},
	{"parameters", "zhipu", 400, `{"error":{"code":"1210","message":"API 调用参数有误，请检查文档"}}`, outcome.BadRequest, "1210", vendorScope},
	{"model", "zhipu", 400, `{"error":{"code":"1211","message":"模型不存在，请检查模型代码"}}`, outcome.BadModel, "1211", modelScope},
	{"parameter", "zhipu", 400, `{"error":{"code":"1214","message":"temperature 参数非法。请检查文档"}}`, outcome.BadRequest, "1214", vendorScope},
	{"prompt too long", "zhipu", 400, `{"error":{"code":"1261","message":"Prompt 超长"}}`, outcome.ContextOverflow, "1261", vendorScope},
	{"content", "zhipu", 400, `{"error":{"code":"1301","message":"系统检测到输入或生成内容可能包含不安全或敏感内容"}}`, outcome.Filtered, "1301", vendorScope},
	{"concurrency", "zhipu", 429, `{"error":{"code":"1302","message":"您的账户已达到速率限制，请您控制请求频率"}}`, outcome.RateConcurrency, "1302", modelScope},
	{"frequency", "zhipu", 429, `{"error":{"code":"1303","message":"您当前使用该 API 的频率过高"}}`, outcome.Rate, "1303", modelScope},
	{"day", "zhipu", 429, `{"error":{"code":"1304","message":"该 API 已达今日调用次数限额"}}`, outcome.Rate, "1304", modelScope},
	{"overload as 429", "zhipu", 429, `{"error":{"code":"1305","message":"当前 API 请求过多，请稍后重试"}}`, outcome.Overload, "1305", vendorScope},
	{"overload as 429, 1312", "zhipu", 429, `{"error":{"code":"1312","message":"该模型当前访问量过大，请您稍后再试"}}`, outcome.Overload, "1312", vendorScope},
	{"plan", "zhipu", 429, `{"error":{"code":"1308","message":"已达到 100 次 5小时的使用上限。您的限额将在 2026-12-01 18:00:00 重置。"}}`, outcome.RateTokens, "1308", modelScope},
	{"plan, week", "zhipu", 429, `{"error":{"code":"1310","message":"x"}}`, outcome.RateTokens, "1310", modelScope},
	{"internal", "zhipu", 500, `{"error":{"code":"500","message":"内部错误"}}`, outcome.Server, "server_error", vendorScope},
	{"permission with a status of its own", "zhipu", 434, `{"error":{"code":"434","message":"x"}}`, outcome.Permission, "permission", keyScope},
	{"size with a status of its own", "zhipu", 435, ``, outcome.TooLarge, "too_large", vendorScope},
}

var moonshotRows = []row{
	{"content", "moonshot", 400, `{"error":{"type":"content_filter","message":"The request was rejected because it was considered high risk"}}`, outcome.Filtered, "content_filter", vendorScope},
	{"context", "moonshot", 400, `{"error":{"type":"invalid_request_error","message":"Your request exceeded model token limit : 8192"}}`, outcome.ContextOverflow, "invalid_request_error", vendorScope},
	{"format", "moonshot", 400, `{"error":{"type":"invalid_request_error","message":"Invalid request: x"}}`, outcome.BadRequest, "invalid_request_error", vendorScope},
	{"key", "moonshot", 401, `{"error":{"type":"invalid_authentication_error","message":"Invalid Authentication"}}`, outcome.Auth, "invalid_authentication_error", keyScope},
	{"key, incorrect", "moonshot", 401, `{"error":{"type":"incorrect_api_key_error","message":"Incorrect API key provided"}}`, outcome.Auth, "incorrect_api_key_error", keyScope},
	{"model", "moonshot", 404, `{"error":{"type":"resource_not_found_error","message":"Not found the model or Permission denied"}}`, outcome.BadModel, "resource_not_found_error", modelScope},
	{"rate", "moonshot", 429, `{"error":{"type":"rate_limit_reached_error","message":"Your account reached max request per minute, please try again after 1 seconds"}}`, outcome.Rate, "rate_limit_reached_error", vendorScope},
	{"concurrency", "moonshot", 429, `{"error":{"type":"rate_limit_reached_error","message":"Your account reached max organization concurrency: 3, please try again after 1 seconds"}}`, outcome.RateConcurrency, "rate_limit_reached_error", vendorScope},
	{"overload as 429", "moonshot", 429, `{"error":{"type":"engine_overloaded_error","message":"The engine is currently overloaded, please try again later"}}`, outcome.Overload, "engine_overloaded_error", vendorScope},
	{"bill as 429", "moonshot", 429, `{"error":{"type":"exceeded_current_quota_error","message":"You exceeded your current token quota, please check your account balance"}}`, outcome.Billing, "exceeded_current_quota_error", vendorScope},
}

var openaiRows = []row{
	{"key", "openai", 401, `{"error":{"message":"Incorrect API key provided: sk-****.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, outcome.Auth, "invalid_api_key", keyScope},
	{"model", "openai", 404, "{\"error\":{\"message\":\"The model `x` does not exist or you do not have access to it.\",\"type\":\"invalid_request_error\",\"param\":null,\"code\":\"model_not_found\"}}", outcome.BadModel, "model_not_found", modelScope},
	{"path", "openai", 404, `{"error":{"message":"Invalid URL (POST /v1/x)","type":"invalid_request_error","param":null,"code":null}}`, outcome.BadRequest, "invalid_request_error", vendorScope},
	{"context", "openai", 400, `{"error":{"message":"This model's maximum context length is 32768 tokens. However, your messages resulted in 40000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, outcome.ContextOverflow, "context_length_exceeded", vendorScope},
	{"policy", "openai", 400, `{"error":{"message":"Your request was rejected by the content policy.","type":"invalid_request_error","param":null,"code":"content_policy_violation"}}`, outcome.Filtered, "content_policy_violation", vendorScope},
	{"requests", "openai", 429, `{"error":{"message":"Rate limit reached for requests","type":"requests","param":null,"code":"rate_limit_exceeded"}}`, outcome.Rate, "rate_limit_exceeded", keyScope},
	{"tokens", "openai", 429, `{"error":{"message":"Rate limit reached for tokens","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, outcome.RateTokens, "rate_limit_exceeded", keyScope},
	{"slope", "openai", 429, `{"error":{"message":"Slow down","type":"rate_limit_error","param":null,"code":"slow_down"}}`, outcome.RateSlope, "slow_down", keyScope},
	{"slope as 503", "openai", 503, `{"error":{"message":"Slow down","type":"server_error","param":null,"code":"slow_down"}}`, outcome.RateSlope, "slow_down", keyScope},
	{"quota is a bill", "openai", 429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, outcome.Billing, "insufficient_quota", vendorScope},
	{"credit is a bill", "openai", 429, `{"error":{"message":"x","type":"insufficient_quota","param":null,"code":"credit_balance_exhausted"}}`, outcome.Billing, "credit_balance_exhausted", vendorScope},
	{"overload", "openai", 503, `{"error":{"message":"The server is currently overloaded with other requests.","type":"service_unavailable_error","param":null,"code":"server_is_overloaded"}}`, outcome.Overload, "server_is_overloaded", vendorScope},
	{"groq tokens", "openai", 429, "{\"error\":{\"message\":\"Rate limit reached for model `x` in organization on tokens per minute (TPM). Please try again in 5.289s.\",\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}}", outcome.RateTokens, "rate_limit_exceeded", keyScope},
	{"groq capacity", "openai", 498, `{"error":{"message":"x","type":"x","code":"capacity_exceeded"}}`, outcome.Overload, "capacity_exceeded", vendorScope},
	{"groq 424", "openai", 424, ``, outcome.BadRequest, "bad_request", vendorScope},
	{"499", "openai", 499, ``, outcome.Server, "server_error", vendorScope},
	{"together context as 403", "openai", 403, `{"error":{"message":"Input validation error: this model's maximum context length is 8192","type":"invalid_request_error","param":null,"code":null}}`, outcome.ContextOverflow, "invalid_request_error", vendorScope},
	{"together bill", "openai", 402, `{"error":{"message":"Payment required","type":"x","code":null}}`, outcome.Billing, "x", vendorScope},
	{"504", "openai", 504, ``, outcome.Timeout, "timeout", vendorScope},
	{"520", "openai", 520, ``, outcome.Server, "server_error", vendorScope},
	{"524", "openai", 524, ``, outcome.Timeout, "timeout", vendorScope},
	{"529", "openai", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}`, outcome.Overload, "overloaded_error", vendorScope},
	{"fireworks 408", "openai", 408, ``, outcome.Timeout, "timeout", vendorScope},
	{"fireworks suspended", "openai", 412, `{"error":{"message":"Account x is suspended, possibly due to reaching the monthly spending limit"}}`, outcome.Billing, "billing", vendorScope},
	{"fireworks not loaded", "openai", 412, `{"error":{"message":"LoRA addon not loaded"}}`, outcome.BadModel, "model_not_found", modelScope},
	{"openrouter, an integer", "openai", 429, `{"error":{"code":429,"message":"Rate limited","metadata":{"provider_name":"x"}}}`, outcome.Rate, "rate_limited", keyScope},
	{"openrouter inside a stream", "openai", 200, `{"id":"x","object":"chat.completion.chunk","error":{"code":502,"message":"Provider disconnected"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`, outcome.Server, "server_error", vendorScope},
	{"a page", "openai", 502, "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>nginx</body></html>", outcome.Server, "html_body", vendorScope},
	{"plain text", "openai", 500, `upstream connect error or disconnect/reset before headers`, outcome.Server, "server_error", vendorScope},
	{"fastapi", "openai", 500, `{"detail":"CUDA out of memory. Tried to allocate 2.00 GiB"}`, outcome.Server, "server_error", vendorScope},
	{"fastapi, a list", "openai", 422, `{"detail":[{"loc":["body","messages"],"msg":"field required","type":"value_error.missing"}]}`, outcome.BadRequest, "value_error.missing", vendorScope},
	{"huawei", "openai", 429, `{"error_code":"ModelArts.81101","error_msg":"Too many requests, exceeded rate limit is 60 times per minute."}`, outcome.Rate, "ModelArts.81101", keyScope},
	{"a redirect", "openai", 302, ``, outcome.Broken, "broken_answer", vendorScope},
	{"responses, failed", "openai", 200, `{"type":"response.failed","response":{"id":"resp_1","status":"failed","error":{"code":"server_error","message":"The model failed"}}}`, outcome.Server, "server_error", vendorScope},
}

var azureRows = []row{
	{"filtered", "azure", 400, `{"error":{"message":"The response was filtered","type":null,"param":"prompt","code":"content_filter","status":400}}`, outcome.Filtered, "content_filter", vendorScope},
	{"tokens", "azure", 429, `{"error":{"code":"429","message":"Requests to the ChatCompletions_Create Operation under Azure OpenAI API have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 37 seconds."}}`, outcome.RateTokens, "token_rate", modelScope},
	{"requests", "azure", 429, `{"error":{"code":"429","message":"Requests have exceeded call rate limit of your current OpenAI S0 pricing tier. Please retry after 2 seconds."}}`, outcome.Rate, "rate_limited", modelScope},
	{"deployment", "azure", 404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`, outcome.BadModel, "DeploymentNotFound", modelScope},
	{"key", "azure", 401, `{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint."}}`, outcome.Auth, "invalid_key", keyScope},
}

var vllmRows = []row{
	{"context", "vllm", 400, `{"error":{"message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens","type":"BadRequestError","param":null,"code":400}}`, outcome.ContextOverflow, "BadRequestError", vendorScope},
	{"context, flat", "vllm", 400, `{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","param":null,"code":400}`, outcome.ContextOverflow, "BadRequestError", vendorScope},
	{"parameter", "vllm", 400, `{"object":"error","message":"temperature must be non-negative","type":"BadRequestError","param":null,"code":400}`, outcome.BadRequest, "BadRequestError", vendorScope},
	{"model", "vllm", 404, "{\"error\":{\"message\":\"The model `x` does not exist.\",\"type\":\"NotFoundError\",\"param\":null,\"code\":404}}", outcome.BadModel, "NotFoundError", modelScope},
	{"key", "vllm", 401, `{"error":"Unauthorized"}`, outcome.Auth, "invalid_key", keyScope},
	{"engine inside a stream", "vllm", 200, `{"error":{"message":"EngineCore encountered an issue. See stack trace (above) for the root cause.","type":"InternalServerError","param":null,"code":500}}`, outcome.Server, "InternalServerError", vendorScope},
	{"bad request inside a stream", "vllm", 200, `{"error":{"message":"x","type":"BadRequestError","param":null,"code":400}}`, outcome.BadRequest, "BadRequestError", vendorScope},
}

func TestDialects_ReadEveryRowOfTheVendorsTables(t *testing.T) {
	for _, table := range [][]row{bailianRows, deepseekRows, siliconflowRows, arkRows, zhipuRows, moonshotRows, openaiRows, azureRows, vllmRows} {
		for _, r := range table {
			t.Run(r.dialect+"/"+r.name, func(t *testing.T) {
				res := outcome.Classify(r.attempt(t))
				if res.Class != r.class || res.Reason != r.reason || res.Scope != r.scope {
					t.Errorf("got %v %q scope %v (%q), want %v %q scope %v", res.Class, res.Reason, res.Scope, res.Message, r.class, r.reason, r.scope)
				}
				if res.Status < 300 {
					t.Errorf("an error with status %d", res.Status)
				}
				if res.Message == "" {
					t.Error("no message")
				}
			})
		}
	}
}

func TestDialects_TheSameCodeMeansTwoThings(t *testing.T) {
	body := `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`
	at := func(dialect string) outcome.Outcome {
		return outcome.Classify(row{dialect: dialect, status: 429, body: body}.attempt(t)).Outcome
	}
	if got := at("bailian"); got != outcome.RateLimited {
		t.Errorf("bailian: %v, want rate_limited", got)
	}
	if got := at("openai"); got != outcome.AccountFault {
		t.Errorf("openai: %v, want account_fault", got)
	}
}

func TestDialects_FindTheVendorsRequestID(t *testing.T) {
	for _, c := range []struct{ dialect, header, value, body, want string }{
		{"bailian", "X-Request-Id", "120e5847-3394-923c-a494-8eb9f81cb36e", `{}`, "120e5847-3394-923c-a494-8eb9f81cb36e"},
		{"bailian", "", "", bailianRows[6].body, "8605e472-81b4-9cd7-b04d-878e89847c14"},
		{"bailian", "", "", bailianRows[7].body, "chatcmpl-120e5847"},
		{"deepseek", "X-Ds-Trace-Id", "abc123", `{}`, "abc123"},
		{"deepseek", "", "", `{"error":{"message":"Authentication Fails (request_id: 7f3c-22)","code":"invalid_request_error"}}`, "7f3c-22"},
		{"siliconflow", "X-Siliconcloud-Trace-Id", "ti_1", `"Invalid token"`, "ti_1"},
		{"ark", "", "", arkRows[0].body, "021718067849899d92fcbe0865fdffdde"},
		{"azure", "Apim-Request-Id", "a-1", `{}`, "a-1"},
		{"zhipu", "", "", `{"error":{"code":"1302","message":"x"},"request_id":"2026120"}`, "2026120"},
	} {
		a := row{dialect: c.dialect, status: 429, body: c.body}.attempt(t)
		h := http.Header{}
		h.Set(c.header, c.value)
		a.Header = h.Get
		if got := outcome.Classify(a).RequestID; got != c.want {
			t.Errorf("%s: %q, want %q", c.dialect, got, c.want)
		}
	}
}

func TestDialects_AreComplete(t *testing.T) {
	want := []string{"ark", "azure", "bailian", "deepseek", "moonshot", "openai", "siliconflow", "vllm", "zhipu"}
	if got := DialectNames(); !slices.Equal(got, want) {
		t.Errorf("names %v, want %v", got, want)
	}
	for _, name := range DialectNames() {
		d, ok := Dialect(name)
		if !ok || d.Name != name || d.AuthHeader == "" || len(d.RequestID) == 0 {
			t.Errorf("%s: %+v", name, d)
		}
		for i, r := range d.Rules {
			if r.Class == outcome.Unclassed || r.Status == 0 && r.Code == "" && r.Message == "" {
				t.Errorf("%s: rule %d matches everything or nothing: %+v", name, i, r)
			}
		}
	}
	if _, ok := Dialect("OpenAI"); ok {
		t.Error("names are matched without regard to case")
	}
}

func TestDialects_BelieveAzuresMilliseconds(t *testing.T) {
	a := row{dialect: "azure", status: 429, body: azureRows[1].body}.attempt(t)
	a.Header = func(name string) string {
		return map[string]string{"Retry-After-Ms": "1500", "Retry-After": "37"}[name]
	}
	if res := outcome.Classify(a); res.RetryAfter != 1500*time.Millisecond {
		t.Errorf("retry after %v, want 1.5s", res.RetryAfter)
	}
}
