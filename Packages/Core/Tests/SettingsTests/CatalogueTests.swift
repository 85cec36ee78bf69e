import Capabilities
import JSON
import Settings
import Testing

@Suite("SettingsCatalogue")
struct CatalogueTests {
    @Test("Settings are found by their full keys, also inside a profile")
    func declarations() {
        #expect(Demo.catalogue.declaration(of: ["chat", "limits", "patience"])?.schema == .duration)
        #expect(Demo.catalogue.declaration(of: ["files", "sftp", "retries"])?.defaultValue == 3)
        #expect(Demo.catalogue.declaration(of: ["profiles", "any", "chat", "command"])?.risk == .runs)
        #expect(Demo.catalogue.declaration(of: ["profiles", "any", "server"])?.schema == .optional(.url))
        #expect(Demo.catalogue.declaration(of: ["features", "files.sftp"])?.risk == .widens)
        #expect(Demo.catalogue.declaration(of: ["profile"])?.risk == .sends)
    }

    @Test(
        "Other keys are unknown",
        arguments: [
            [], ["chat"], ["chat", "modle"], ["chat", "model", "x"], ["profiles"], ["profiles", "any"],
            ["profiles", "any", "profile"], ["profiles", "any", "profiles", "x"],
            ["profiles", "any", "features", "chat"],
        ])
    func unknown(key: [String]) {
        #expect(Demo.catalogue.declaration(of: key) == nil)
    }

    @Test("Groups are distinguished from settings")
    func groups() {
        #expect(Demo.catalogue.isGroup(["chat"]))
        #expect(Demo.catalogue.isGroup(["chat", "limits"]))
        #expect(!Demo.catalogue.isGroup(["chat", "model"]))
        #expect(!Demo.catalogue.isGroup(["zebra"]))
    }

    @Test("Settings are listed in the order of declaration")
    func order() {
        let keys = Demo.catalogue.declarations.map(\.name)
        #expect(keys.prefix(5) == ["features.chat", "features.files.sftp", "profile", "chat.model", "chat.max-rounds"])
        #expect(keys.last == "files.sftp.retries")
    }

    @Test("Risky settings are found, by dotted key")
    func risky() {
        let value: JSONObject = ["chat": ["model": "a", "command": "b"], "zebra": 1, "features": ["chat": false]]
        #expect(Demo.catalogue.risky(in: value) == ["chat.command": "b", "features.chat": false])
    }
}
