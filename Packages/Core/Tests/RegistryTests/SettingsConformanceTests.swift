import Capabilities
import CoreTesting
import JSON
import Settings
import Testing

@Suite("SettingsConformance")
struct SettingsConformanceTests {
    @Test("Settings of every shape, each bound to its property, keep the rules")
    func good() {
        #expect(SettingsConformance.violations(of: Good.self, names: ["limits.wait": "patience"]) == [])
    }

    @Test("Bindings that are swapped are violations")
    func swapped() {
        #expect(
            SettingsConformance.violations(of: Swapped.self) == [
                "first-day sets lastDay, not firstDay", "last-day sets firstDay, not lastDay",
            ])
    }

    @Test("Two settings of one property, a setting of two, and a property without a setting are violations")
    func miscounted() {
        #expect(
            SettingsConformance.violations(of: Miscounted.self) == [
                "one sets no property, or needs a valid value other than its default", "other sets one, not other",
                "both sets left and right, not both", "no setting sets other", "no setting sets both",
            ])
    }

    @Test("A setting for which no other valid value is found is a violation, unless the test gives one")
    func values() {
        #expect(
            SettingsConformance.violations(of: Even.self) == [
                "even sets no property, or needs a valid value other than its default", "no setting sets even",
            ])
        #expect(SettingsConformance.violations(of: Even.self, values: ["even": 4]) == [])
    }
}

private struct Good: SettingsRecord {
    enum Units: String, Choice { case metric, imperial }

    var isOn = false
    var count = 0
    var share = 0.5
    var word = ""
    var units = Units.metric
    var file: PathValue?
    var patience = Duration.zero
    var size = ByteCount(0)
    var words: [String] = []
    var headers: [String: String] = [:]
    var anything = JSON.null

    static let bindings = [
        bind({ $0.isOn = $1 }, Setting("is-on", "Whether it is on", default: true)),
        bind({ $0.count = $1 }, Setting("count", "How many", in: 1...2, default: 1)),
        bind({ $0.share = $1 }, Setting("share", "Which part", default: 0.25)),
        bind({ $0.word = $1 }, Setting("word", "A word", default: "")),
        bind({ $0.units = $1 }, Setting("units", "Units of measure", default: .imperial)),
        bind({ $0.file = $1 }, Setting("file", "A file", default: nil)),
        bind({ $0.patience = $1 }, Setting("limits.wait", "How long to wait", default: .seconds(1))),
        bind({ $0.size = $1 }, Setting("size", "How large", default: ByteCount(1))),
        bind({ $0.words = $1 }, Setting("words", "Words", default: [String]()).joiningLayers()),
        bind({ $0.headers = $1 }, Setting("headers", "Headers by name", default: ["accept": "json"])),
        bind({ $0.anything = $1 }, Setting("anything", "Any value", default: JSON.null)),
    ]
}

private struct Swapped: SettingsRecord {
    var firstDay = 0
    var lastDay = 0

    static let bindings = [
        bind({ $0.lastDay = $1 }, Setting("first-day", "The first day", default: 1)),
        bind({ $0.firstDay = $1 }, Setting("last-day", "The last day", default: 7)),
    ]
}

private struct Miscounted: SettingsRecord {
    var one = 0
    var other = 0
    var left = 0
    var right = 0
    var both = 0

    static let bindings = [
        bind({ $0.one = $1 }, Setting("one", "One", default: 3)),
        bind({ $0.one = $1 }, Setting("other", "The other", default: 3)),
        bind({ ($0.left, $0.right) = ($1, $1) }, Setting("both", "Both", default: 3)),
    ]
}

private struct Even: SettingsRecord {
    /// Refuses odd numbers, which its schema does not say.
    struct Number: InputValue, OutputValue {
        var value = 2

        static let schema = Schema.integer(1...7)
        var json: JSON { .int(value) }

        init() {}

        init(json: JSON) throws(ValueError) {
            value = try Int(json: json)
            if !value.isMultiple(of: 2) { throw ValueError("must be even") }
        }
    }

    var even = Number()

    static let bindings = [bind({ $0.even = $1 }, Setting("even", "An even number", default: Number()))]
}
