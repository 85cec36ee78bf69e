import JSON
import Testing

@testable import MCPServers

/// What is chosen for new sessions of a gateway, and how the choice for a project narrows that for all.
struct GatewayDefaultTests {
    private static func choice(_ change: (inout GatewayDefault) -> Void) -> GatewayDefault {
        var choice = GatewayDefault()
        change(&choice)
        return choice
    }

    @Test("a choice is stored and read as it is, and an empty one is none")
    func stored() {
        let full = Self.choice {
            $0.set(server: "web", isOn: false)
            $0.set(tool: "log", of: "git", isOn: true)
            $0.set(priority: ["time"])
            $0.audit = false
        }
        #expect(GatewayDefault(stored: full.json) == full && !full.isEmpty)
        #expect(GatewayDefault(stored: [:]).isEmpty && GatewayDefault().json == [:])
    }

    @Test("a server that is switched off takes the tools along that were chosen, and keeps those off that were off")
    func off() {
        let choice = Self.choice {
            $0.set(tool: "log", of: "git", isOn: true)
            $0.set(tool: "push", of: "git", isOn: false)
            $0.set(tool: "now", of: "time", isOn: true)
            $0.set(server: "git", isOn: false)
        }
        #expect(choice.choice.servers == ["git": false])
        #expect(choice.choice.tools == ["git/push": false, "time/now": true])
        // A tool that is named afterwards is used alone.
        let alone = Self.choice {
            $0.set(server: "git", isOn: false)
            $0.set(tool: "log", of: "git", isOn: true)
        }
        #expect(alone.choice.tools == ["git/log": true])
    }

    @Test("the choice for a project counts before that for all, which counts where it says nothing")
    func layers() {
        let all = Self.choice {
            $0.set(server: "git", isOn: false)
            $0.set(tool: "log", of: "git", isOn: true)
            $0.set(server: "web", isOn: false)
            $0.set(priority: ["git"])
            $0.audit = true
        }
        #expect(GatewayDefault().over(all) == all)
        let narrow = Self.choice {
            $0.set(server: "git", isOn: false)
            $0.set(server: "web", isOn: true)
            $0.audit = false
        }
        let both = narrow.over(all)
        #expect(both.choice.servers == ["git": false, "web": true] && both.choice.tools.isEmpty)
        #expect(both.choice.priority == ["git"] && both.audit == false)
    }
}
