import Capabilities
import JSON
import Settings
import Testing

/// The settings of Chat in these tests, as a record.
private struct ChatRecord: SettingsRecord {
    var model = ""
    var rounds = 0
    var units = Units.metric
    var patience = Duration.zero
    var note: String?
    var rules: [String] = []

    static let bindings = [
        bind({ $0.model = $1 }, Demo.model),
        bind({ $0.rounds = $1 }, Demo.rounds),
        bind({ $0.units = $1 }, Setting("units", "Units of measure", default: Units.imperial)),
        bind({ $0.patience = $1 }, Demo.patience),
        bind({ $0.note = $1 }, Setting<String?>("note", "A note", default: nil, risk: .sends, flag: "note")),
        bind({ $0.rules = $1 }, Setting("rules", "Rules", default: [String]()).joiningLayers()),
    ]
}

@Suite("Settings as a record")
struct SettingsRecordTests {
    @Test("The declarations are those of the bound settings, in their order")
    func declarations() throws {
        let declarations = ChatRecord.declarations
        #expect(
            declarations.map(\.key) == [
                ["model"], ["max-rounds"], ["units"], ["limits", "patience"], ["note"], ["rules"],
            ])
        #expect(declarations.map(\.defaultValue) == ["small", 10, "imperial", Duration.seconds(30).json, .null, []])
        let note = try #require(declarations.first { $0.key == ["note"] })
        #expect(note.summary == "A note" && note.risk == .sends && note.flag == "note")
        #expect(declarations.map(\.joinsLayers) == [false, false, false, false, false, true])
    }

    @Test("A record of settings that are not set has their defaults, not the initial values of its properties")
    func defaults() {
        let record = ChatRecord(reading: Settings().view(for: "chat"))
        #expect(record.model == "small" && record.rounds == 10 && record.units == .imperial)
        #expect(record.patience == .seconds(30) && record.note == nil && record.rules == [])
    }

    @Test("A record has the values that are set for its feature, each in its property")
    func values() throws {
        let text = """
            {
              chat: {model: 'large', 'max-rounds': 3, units: 'metric', limits: {patience: 1.5}, note: 'hi', rules: ['a']},
              files: {sftp: {retries: 7}},
            }
            """
        let record = ChatRecord(reading: try Sources(user: text).merged().view(for: "chat"))
        #expect(record.model == "large" && record.rounds == 3 && record.units == .metric)
        #expect(record.patience == .milliseconds(1500) && record.note == "hi" && record.rules == ["a"])
    }

    @Test("A record of another profile has the values of that profile")
    func profiles() throws {
        let text = "{chat: {model: 'mine', note: 'hi'}, profiles: {work: {chat: {model: 'large'}}}}"
        let view = try Sources(user: text).merged().view(for: "chat")
        let work = ChatRecord(reading: view.inProfile("work"))
        #expect(work.model == "large" && work.note == "hi")
        #expect(ChatRecord(reading: view).model == "mine")
    }
}
