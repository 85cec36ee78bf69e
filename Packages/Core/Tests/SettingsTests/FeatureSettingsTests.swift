import Capabilities
import JSON
import Settings
import Testing

@Suite("FeatureSettings")
struct FeatureSettingsTests {
    @Test("A feature sees the defaults if nothing is set")
    func defaults() {
        let view = Settings().view(for: "chat")
        #expect(view[Demo.model] == "small")
        #expect(view[Demo.rounds] == 10)
        #expect(view[Demo.units] == .metric)
        #expect(view[Demo.patience] == .seconds(30))
        #expect(view[Demo.stop] == ["end"])
        #expect(view[Demo.note] == nil)
        #expect(view.profile == nil)
        #expect(view.server == nil)
    }

    @Test("A feature sees its own values in their types")
    func typed() throws {
        let text = "{chat: {units: 'imperial', limits: {patience: 1.5}, note: 'hi'}, files: {sftp: {retries: 7}}}"
        let settings = try Sources(user: text).merged()
        let view = settings.view(for: "chat")
        #expect(view[Demo.units] == .imperial)
        #expect(view[Demo.patience] == .milliseconds(1500))
        #expect(view[Demo.note] == "hi")
        #expect(settings.view(for: "files.sftp")[Demo.retries] == 7)
    }

    @Test("A feature does not see the settings of another")
    func others() throws {
        let settings = try Sources(user: "{chat: {model: 'large'}}").merged()
        #expect(settings.view(for: "files.sftp")[Demo.model] == "small")
        #expect(settings.view(for: "cha")[Demo.model] == "small")
    }

    @Test("A feature sees the default if the value does not fit the requested type")
    func unfit() throws {
        let settings = try Sources(user: "{chat: {model: 'large'}}").merged()
        #expect(settings.view(for: "chat")[Setting("model", "As a number", default: 5)] == 5)
        #expect(try Sources(user: "{chat: {units: 'kelvin'}}").merged().view(for: "chat")[Demo.units] == .metric)
    }

    @Test("A feature is on unless a setting switches it off")
    func switches() throws {
        let settings = try Sources(
            user: "{features: {chat: false}}", environment: ["MARTLET_FEATURES_FILES_SFTP": "no"]
        )
        .merged()
        #expect(!settings.isOn("chat"))
        #expect(!settings.isOn("files.sftp"))
        #expect(settings.isOn("monitor"))
        #expect(settings.originOfSwitch("chat") == .user(file: "user.json"))
        #expect(settings.originOfSwitch("files.sftp") == .environment(variable: "MARTLET_FEATURES_FILES_SFTP"))
        #expect(settings.originOfSwitch("monitor") == nil)
    }
}
