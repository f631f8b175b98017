package draw

// chinesePages are the messages of screens of their own.
var chinesePages = map[string]string{
	"armed": "已就绪", "armed-bar": "倒计时中：A 取消，尚未发生任何事", "armed-for": "归零时在通往 %s 的路径上注入故障",
	"incident": "事故", "nobody-ordered": "无人下令", "details": "详情", "waits": "等待操作：%s",
	"asks-contained": "遏制", "asks-recovered": "恢复", "means-contained": "从注入故障到客户不受影响、%s的流量降下来", "means-short-contained": "直到%s不再影响客户", "means-recovered": "直到最后一次恢复之后服务被证明良好", "means-short-recovered": "直到恢复后服务良好",
	"sealed":       "一次盲演练正在进行。供应商、故障和时刻在结束后才公布：在此之前，观看者知道的不比客户更多。",
	"sealed-short": "盲演练进行中",
	"success":      "成功率", "traffic": "流量", "last-10s": "最近 10 秒", "phases": "阶段", "from-fault": "自故障起", "verifying": "验证中", "checklist": "检查单", "space-ticks": "上下键选择 空格或 x 打勾", "stops": "中止条件", "steps": "步骤", "acts": "各幕", "of-about": "共约", "now": "现在", "judge-story": "每幕如故事所说", "judge-show": "每幕如故事所说",
	"preflight": "预检", "report": "报告", "plan": "计划", "explained": "过程", "file": "文件", "trend": "趋势", "result": "结果",
	"doing-steady": "记录基线", "doing-fault": "即将注入", "doing-detected": "尚未被发现", "doing-shifted": "流量正在转移", "doing-verified": "正在证明服务良好", "doing-restored": "按 R 恢复 %s", "doing-failback": "正在回切",
	"tab-run": "进行中", "tab-last": "最近一次", "tab-scenarios": "场景", "tab-history": "历史", "tab-schedule": "日程",
	"judges": "评判", "judge-cutover": "切换", "judge-contained": "遏制", "judge-recovered": "恢复", "extra-cost": "额外费用", "people-move": "由人移动权重",
	"ready": "可以运行", "ready-warn": "可以运行，%d 条警告", "would-refuse": "会被拒绝：", "arms": "进入倒计时",
	"no-records": "还没有运行过演练", "last-cutovers": "最近", "no-run": "没有进行中的演练。",
	"coming": "即将进行", "cancels": "x 取消", "freshness": "上次通过", "by-fault": "按供应商和故障", "no-schedule": "没有日程（配置中的 drill.schedule）", "in": "%s 后", "announced": "已预告", "is-armed": "已武装",
	"never-passed": "从未通过", "passed-today": "今天通过", "passed-day": "昨天通过", "passed-days": "%d 天前通过",
	"arm-none":  "倒计时 %s 后开始，期间 A 取消；不影响任何供应商。A 随时结束。",
	"arm-title": "启动演练 %s？", "arm-1": "%s 将注入通往 %s 的路径，先倒计时 %s，期间 A 取消。baton 不会被告知，必须自己发现；计时目标 %s。", "arm-lot": "供应商和故障随机抽取，时刻在场景的窗口内。A 随时结束。",
	"arm-people": "这次由人移动权重：熔断只报警。", "arm-external": "由你亲自切断供应商；同一时刻按 x 开始计时。",
	"arm-warn": "预检警告：%s。", "arm-short": "%s 注入 %s，%s 后。A 取消。", "arm-yes": "启动", "arm-refused": "预检拒绝：%s", "countdown": "倒计时：A 取消",
	"cancel-none": "没有可取消的", "mark-none": "演练没有在等待操作", "x-marks": "已标记",
	"stale-1": "失去 %s 的演练上次通过：%s；d 打开演练", "never": "从未",
	"incident-open": "事故（无人下令）：%s，%s。d 打开", "incident-over": "事故已结束：%s，%s。Esc 收起", "incident-proven": "事故：%s 不可用；%s 后没有它服务也良好",
	"scheduled-soon": "演练 %s 将在 %s 后开始：d，日程，x 取消",

	"overrides-title": "生效中的人工设置", "no-overrides": "控制器之上没有人工设置。", "ends-it": "结束：", "extends-it": "延长：", "until-ended": "直到手动结束",
	"override-pin": "权重", "override-drain": "排空", "override-manual": "切换", "override-limit": "限速", "override-disabled": "停用", "override-fault": "故障", "override-observe": "观察",
	"nothing-extend": "没有可延长的设置", "override-ends": "%s 将在 %s 后到期：p 延长", "manual-left": "手动切换，还剩 %s：熔断只报警，不移动权重", "manual-extend": "（p 延长）", "other-extend": "（p 先延长先到期的：%s）", "failover-manual": "手动切换", "manual-short": "手动切换", "manual-file": "配置为手动切换：熔断只报警，不移动权重",
	"cannot-run": "%q 无法在这里执行", "count-overrides": "%d 项人工设置", "count-override": "1 项人工设置",
	"shedding": "最近 10 秒因无余量拒绝 %s 个请求（其中批量 %s），%d 个在等待",

	"limit-learned": "~%s%s，%s学到", "limit-known": "%s，配置", "per-key": "（每密钥）", "per-account": "（每账户）", "ago": "%s前", "sure": "置信 %s", "in-flight-limit": "在途上限", "waiting": "等待", "shed": "拒绝", "because-of": "因为 %s：%s", "release": "解除条件", "unlimited": "未知限速",
	"limit-concurrency": "%s 个在途", "limit-tokens": "%s 词元/分", "limit-slope": "速率只能缓慢上升",

	"costs-title": "费用", "no-costs": "还没有账本", "no-what-if": "换一种分配要花多少还不知道", "no-prices": "没有供应商有价格：配置中的 [[vendors.price]] 写明每百万词元的价格。在此之前只计次数，不计金额。", "per-hour-by": "每小时花费", "per-step-by": "每 %s 花费", "over": "按 %s", "effective": "实际单价", "what-if": "假如", "drag-share": "%s 移动 %s", "days": "按天", "spent": "24 小时花费", "run-rate": "运行费率", "per-day": "每天", "per-month": "每月", "unpriced": "未定价", "attempts": "次尝试",
	"col-in": "输入", "col-out": "输出", "col-all": "合计", "col-call": "每次回答", "col-share": "份额", "col-cost": "费用", "per-million": "每百万词元", "of-failed": "失败", "of-drills": "演练", "of-probes": "探测", "of-stress": "压测", "estimated": "估算", "from-now": "相对现在", "extrapolated": "从未观测到这样的份额", "no-room-at": "超过已知限速", "only-what-if": "只是假如：不改变任何设置", "example-prices": "模拟供应商：不花钱", "since-24h": "最近 24 小时", "missing": "有 %d 次尝试未计入",

	"stress-title": "压测", "no-stress": "压测只能在内嵌控制台运行；其他情况用 `baton stress VENDOR`。", "stress-what": "绕过网关，直接对 %s 逐级增加并发请求：看它变差多少倍。", "stress-start": "开始", "stress-stop": "停止", "stress-price": "%s 有价格：这会花钱。", "stress-title-q": "压测 %s？", "stress-1": "%s，直接打到 %s；%s。会有意触及它的限速。", "stress-yes": "开始",
	"ladder": "阶梯", "col-conc": "并发", "latency-conc": "首字延迟随并发", "verdict": "结论", "say-to-vendor": "发给供应商", "stressing": "第 %d 级，共 %d 级", "worse": "变差 %s 倍（并发 1 到 %d）", "withheld": "不给出：测到的是限速器，不是引擎", "stress-failed": "压测：%s", "stress-runs": "压测已在进行",

	"replay": "回放", "replay-paused": "暂停", "replay-only": "回放：不能更改任何设置", "replay-keys": "空格暂停  + - 速度  [ ] 10 秒",
	"sim-knobs": "sim 供应商 名称=值…，例如 sim lanyun first_token=900ms", "need-failover": "failover auto，或 failover manual --for 30m", "need-drill": "drill run 名称：有 %s", "bad-task": "%q 不是检查单上的一行", "bad-knob": "%q 不是 名称=值",
}
