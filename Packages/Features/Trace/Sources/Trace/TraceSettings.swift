import Capabilities
import Settings
import TraceExport
import TraceReceiver
import TraceStore

/// The settings of the feature.
struct TraceSettings: SettingsRecord {
    private var records = true
    var limits = SpanSpool.Limits()
    var budget = TraceStore.Budget()
    var receiver = SpanReceiver.Limits()
    private var ratio = 1.0
    /// Whether the part of traces is set, so that no variable of OpenTelemetry decides it.
    private var hasRatio = false
    private var slow: Duration?

    /// The settings of a feature, with those that are set.
    init(_ settings: FeatureSettings) {
        self.init(reading: settings)
        hasRatio = !settings.layers(of: Self.sample).isEmpty
    }

    init() {}

    /// The limits with the part of traces that is recorded.
    func spool(_ variables: CollectorVariables) -> SpanSpool.Limits {
        var all = limits
        let ratio = hasRatio ? ratio : variables.ratio ?? ratio
        all.sampling = records && !variables.isDisabled ? TraceSampling(ratio: ratio, slow: slow) : nil
        return all
    }

    private static let sample: Setting<Double> = Setting(
        "sample", "The part of traces that is recorded", in: 0...1, default: 1, risk: .widens)

    static let bindings = [
        bind(
            { $0.records = $1 },
            Setting(
                "record",
                "Record what commands, models, tools and requests do and how long each takes, never what was said",
                default: true, risk: .widens)),
        bind({ $0.ratio = $1 }, sample),
        bind(
            { $0.slow = $1 },
            Setting(
                "slow",
                "A trace that takes longer is recorded although it was not chosen; so is one in which something failed",
                default: Duration?.none, risk: .widens)),
        bind(
            { $0.limits.rate = $1 },
            Setting(
                "rate", "Spans that a process records in a second; of more, those that failed come first",
                in: 1...1_000_000,
                default: 2_000, risk: .widens)),
        bind(
            { $0.budget.bytes = $1.bytes },
            Setting(
                "budget", "Size of all traces; the oldest are removed", in: ByteCount(1 << 20)...ByteCount(1 << 40),
                default: ByteCount(512 << 20), risk: .widens)),
        bind(
            { $0.budget.received = $1.bytes },
            Setting(
                "received-budget", "Size of what other programs have sent, besides; the oldest of it is removed",
                in: ByteCount(1 << 20)...ByteCount(1 << 40), default: ByteCount(128 << 20), risk: .widens)),
        bind(
            { $0.receiver.rate = $1 },
            Setting(
                "received-rate", "Spans, entries of logs and values of metrics that 'trace serve' takes in a second",
                in: 1...1_000_000, default: 10_000,
                risk: .widens)),
        bind(
            { $0.budget.time = $1 },
            Setting("keep", "How long traces are kept", default: .seconds(14 * 86_400), risk: .widens)),
    ]
}
