import Capabilities
import Testing

@Suite("A grant")
struct GrantTests {
    private func grant(
        _ name: String = "b", effects: Effect = .reads, actions: [String] = [], hosts: [String]? = nil,
        tools: [String] = []
    ) -> Grant {
        Grant(Grant.Layer(.bundle(name), effects: effects, actions: actions, hosts: hosts, tools: tools))
    }

    private static let everything: [GrantRequest] = [
        .action("a.read", .reads, isForModels: false), .action("a.write", .writes, isForModels: false),
        .action("a.destroy", .destroys, isForModels: true), .host("example.com", port: 443),
    ]

    @Test("of the person allows everything, but agrees to no tool of a model beforehand")
    func person() {
        for request in Self.everything { #expect(Grant.person.decide(request).isAllowed) }
        #expect(Grant.person.decide(.tool("read", source: "files")) == .ask(rule: "nobody has agreed to it beforehand"))
    }

    @Test(
        "of a bundle allows actions up to an effect, and those that it names",
        arguments: [
            (Effect.reads, [], [true, false, false]), (.writes, [], [true, true, false]),
            (.destroys, [], [true, true, true]), (.reads, ["a.destroy"], [true, false, true]),
            (.reads, ["a.*"], [true, true, true]), (.reads, ["*"], [true, true, true]),
            (.reads, ["a.w*", "b.*", "a", "a.destroyer"], [true, false, false]),
        ])
    func actions(effects: Effect, actions: [String], allowed: [Bool]) {
        let grant = grant(effects: effects, actions: actions)
        #expect(Self.everything.prefix(3).map { grant.decide($0).isAllowed } == allowed)
    }

    @Test("says which rule refuses, and what would allow it")
    func refusals() {
        #expect(
            grant("deploy").decide(.action("a.write", .writes, isForModels: true))
                == .deny(
                    rule: "a.write writes something, and the bundle 'deploy' does not permit it",
                    mend: "add it to permissions.actions, or set permissions.effects to writes"))
        #expect(
            grant("deploy", hosts: []).decide(.host("example.com", port: 80))
                == .deny(
                    rule: "the bundle 'deploy' may not speak to example.com:80", mend: "add it to permissions.hosts"))
        #expect(
            grant("deploy", hosts: []).decide(.host("::1", port: 80))
                == .deny(rule: "the bundle 'deploy' may not speak to [::1]:80", mend: "add it to permissions.hosts"))
        #expect(
            Grant.model.decide(.action("auth.secret.get", .reads, isForModels: false))
                == .deny(
                    rule: "not offered to models",
                    mend: "do it yourself: martlet auth secret get"))
    }

    @Test("of a model allows what is offered to models, and no more than whoever it acts for may do")
    func models() {
        #expect(Grant.model.decide(.action("a.read", .reads, isForModels: true)).isAllowed)
        let model = Caller.person(HeadlessInteraction()).narrowed(by: grant()).narrowed(by: .model).grant
        #expect(!model.decide(.action("a.write", .writes, isForModels: true)).isAllowed)
        #expect(!model.decide(.action("a.read", .reads, isForModels: false)).isAllowed)
        #expect(model.decide(.host("example.com", port: 1)).isAllowed)
    }

    @Test("allows only what every one of its layers allows")
    func layers() {
        let (wide, narrow) = (grant("wide", effects: .destroys), grant("narrow", effects: .writes, hosts: ["a.*"]))
        for both in [wide.narrowed(by: narrow), narrow.narrowed(by: wide), Grant.person.narrowed(by: narrow)] {
            #expect(Self.everything.map { both.decide($0).isAllowed } == [true, true, false, false])
            #expect(both.decide(.host("a.b", port: 1)).isAllowed)
        }
        #expect(!narrow.narrowed(by: grant(hosts: ["*.b"])).decide(.host("a.c", port: 1)).isAllowed)
        #expect(Grant.person.narrowed(by: .person) == .person)
    }

    @Test(
        "knows servers by patterns, with a port or for all",
        arguments: [
            (["*.example.com"], "api.example.com", 443, true), (["*.example.com"], "example.com", 443, false),
            (["api.*:443"], "api.example.com", 80, false), (["API.*:443"], "api.example.com", 443, true),
            (["*.example.com"], "api.example.org", 443, false), (["[::1]:80"], "::1", 80, true),
            (["::1"], "::1", 80, true), (["a*b*c"], "axbybzc", 1, true), (["a*b*c"], "axbybz", 1, false),
            (["a**b"], "ab", 1, true), ([], "localhost", 1, false), (["localhost"], "localhost.evil.com", 1, false),
        ])
    func hosts(patterns: [String], host: String, port: Int, isAllowed: Bool) {
        #expect(grant(hosts: patterns).decide(.host(host, port: port)).isAllowed == isAllowed)
    }

    @Test("agrees to tools that each of its layers names")
    func tools() {
        let both = grant(tools: ["files/*", "web/search"]).narrowed(by: grant(tools: ["*/read*"]))
        #expect(both.decide(.tool("read_file", source: "files")).isAllowed)
        for (tool, source) in [("write_file", "files"), ("search", "web"), ("read", "web")] {
            #expect(!both.decide(.tool(tool, source: source)).isAllowed)
        }
        #expect(!grant().decide(.tool("read", source: "files")).isAllowed)
        #expect(!grant(tools: ["files/*"]).narrowed(by: grant()).decide(.tool("read", source: "files")).isAllowed)
    }
}
