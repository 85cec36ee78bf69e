import Capabilities
import Testing

@Suite("Grant")
struct GrantTests {
    private func grant(
        _ name: String = "b", effects: Effect = .reads, actions: [String] = [], hosts: [String]? = nil,
        folders: Grant.Folders = .init(), secrets: [String] = [], tools: [String] = []
    ) -> Grant {
        Grant(
            Grant.Layer(
                .bundle(name), effects: effects, actions: actions, hosts: hosts.map(Grant.Hosts.named) ?? .all,
                folders: folders, secrets: secrets, tools: tools))
    }

    private func root(_ path: String, canonical: String? = nil) -> FolderRoot {
        FolderRoot(path: path, canonical: canonical ?? path, device: 1, inode: 1)
    }

    private static let everything: [GrantRequest] = [
        .action("a.read", .reads, .bundles), .action("a.write", .writes, .bundles),
        .action("a.destroy", .destroys, .models), .host("example.com", port: 443),
    ]

    @Test("The person's grant allows everything, but approves no tool of a model in advance")
    func person() {
        for request in Self.everything { #expect(Grant.person.decide(request).isAllowed) }
        #expect(
            Grant.person.decide(.tool(ToolUse("write", of: "files", .writes, mode: .readOnly)))
                == .ask(rule: "no rule and no grant permits it, and the mode is read-only"))
    }

    @Test("The grant of code without a caller allows nothing, and explains it")
    func nobody() {
        let requests =
            Self.everything + [
                .path("/tmp/x", .read), .secret("openai"), .program("make"), .network, .route([.read]),
                .tool(ToolUse("read", of: "files", .reads, mode: .readOnly)), .credential("openai"), .child("git"),
                .address("127.0.0.1", port: 80, host: "a.example"),
            ]
        for request in requests {
            // An address is checked only after its name was allowed.
            if case .address = request { continue }
            #expect(Grant.nobody.decide(request).isDenied, "\(request)")
        }
        #expect(Caller.grantHere == .nobody)
        let caller = Caller.person(HeadlessInteraction())
        Caller.$current.withValue(caller) { #expect(Caller.grantHere == .person) }
    }

    @Test("A grant ends after its number of calls, counted across everyone who uses it")
    func calls() throws {
        let limits = try #require(GrantLimits(calls: 2, time: nil))
        let bundle = Grant(Grant.Layer(.bundle("b"), limits: limits))
        try bundle.narrowed(by: .model).use()
        try bundle.use()
        let failure = #expect(throws: AccessFailure.self) { try bundle.narrowed(by: .model).use() }
        #expect(
            failure?.message == "the bundle 'b' may not do more than 2 actions and tool calls; raise permissions.calls")
        // Control: a grant without limits continues.
        for _ in 0..<100 { try Grant(Grant.Layer(.bundle("b"))).use() }
        #expect(GrantLimits(calls: nil, time: nil) == nil)
    }

    @Test("A grant ends after its time")
    func time() throws {
        let over = Grant(Grant.Layer(.bundle("b"), limits: GrantLimits(calls: nil, time: .zero)))
        let failure = #expect(throws: AccessFailure.self) { try over.use() }
        #expect(failure?.message.hasSuffix("raise permissions.time") == true)
        try Grant(Grant.Layer(.bundle("b"), limits: GrantLimits(calls: nil, time: .seconds(3600)))).use()
    }

    @Test("A client's grant restricts only routes")
    func clients() {
        let client = Grant.person.narrowed(by: .client("ci", scopes: [.chat]))
        #expect(client.decide(.route([.chat])).isAllowed && client.decide(.route([.admin])).isDenied)
        for request in [
            GrantRequest.host("example.com", port: 443), .path("/srv/x", .read), .secret("openai"), .program("make"),
        ] { #expect(client.decide(request).isAllowed) }
        // The person's rules decide about tools.
        #expect(
            client.decide(.tool(ToolUse("write", of: "files", .writes, mode: .readOnly)))
                == .ask(rule: "no rule and no grant permits it, and the mode is read-only"))
        #expect(client.decide(.tool(ToolUse("write", of: "files", .writes, mode: .readOnly, ruling: .allow))).isAllowed)
        #expect(client.decide(.action("config.set", .writes, .byName)).isDenied)
    }

    @Test(
        "A bundle's grant allows actions up to an effect, and those it names",
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

    @Test("A refusal names the rule and what would allow the request")
    func refusals() {
        #expect(
            grant("deploy").decide(.action("a.write", .writes, .models))
                == .deny(
                    rule: "a.write writes something, and the bundle 'deploy' does not permit it",
                    mend: "add it to permissions.actions, or set permissions.effects to writes"))
        #expect(
            grant("deploy", hosts: []).decide(.host("example.com", port: 80))
                == .deny(
                    rule: "the bundle 'deploy' may not connect to example.com:80",
                    mend: "add \"example.com:80\" to permissions.hosts"))
        #expect(
            grant("deploy", hosts: []).decide(.host("::1", port: 80))
                == .deny(
                    rule: "the bundle 'deploy' may not connect to [::1]:80",
                    mend: "add \"[::1]:80\" to permissions.hosts"))
        // A client has no permissions that could be written down.
        #expect(
            Grant(Grant.Layer(.client("host"))).decide(.action("a.write", .writes, .bundles))
                == .deny(
                    rule: "a.write writes something, and the token 'host' does not permit it", mend: "do it yourself"))
        #expect(
            Grant.model.decide(.action("auth.secret.get", .reads, .bundles))
                == .deny(
                    rule: "not offered to models",
                    mend: "do it yourself: martlet auth secret get"))
    }

    @Test("A model's grant allows what is available to models, and no more than the rights of its caller")
    func models() {
        #expect(Grant.model.decide(.action("a.read", .reads, .models)).isAllowed)
        let model = Caller.person(HeadlessInteraction()).narrowed(by: grant()).narrowed(by: .model).grant
        #expect(!model.decide(.action("a.write", .writes, .models)).isAllowed)
        #expect(!model.decide(.action("a.read", .reads, .bundles)).isAllowed)
        #expect(model.decide(.host("example.com", port: 1)).isAllowed)
    }

    @Test("A grant allows only what all of its layers allow")
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
        "Server patterns match with a port or for all ports",
        arguments: [
            (["*.example.com"], "api.example.com", 443, true), (["*.example.com"], "example.com", 443, false),
            (["api.*:443"], "api.example.com", 80, false), (["API.*:443"], "api.example.com", 443, true),
            (["*.example.com"], "api.example.org", 443, false), (["[::1]:80"], "::1", 80, true),
            (["::1"], "::1", 80, true), (["a*b*c"], "axbybzc", 1, true), (["a*b*c"], "axbybz", 1, false),
            (["a**b"], "ab", 1, true), ([], "localhost", 1, false), (["localhost"], "localhost.evil.com", 1, false),
            (["127.0.0.*"], "127.0.0.1", 1, true), (["127.0.0.*"], "127.0.0.evil.com", 1, false),
            (["10.*:80"], "10.1.2.3", 80, true), (["*"], "evil.com", 1, true),
            (["*:443"], "api.example.com", 443, true), (["*:443"], "api.example.com", 80, false),
            (["*:1"], "::1", 9, false), (["*:9"], "fd00::1", 9, true), (["[::1]"], "::1", 9, true),
            (["[::1]:8*"], "::1", 9, false), (["::*"], "::1", 9, true), (["10.*"], "10.evil.com", 1, false),
        ])
    func hosts(patterns: [String], host: String, port: Int, isAllowed: Bool) {
        #expect(grant(hosts: patterns).decide(.host(host, port: port)).isAllowed == isAllowed)
    }

    @Test(
        "A star does not match this machine, its link or the metadata of a cloud",
        arguments: [
            (["*"], "localhost", 80, false), (["*"], "a.localhost.", 80, false), (["localhost"], "localhost", 80, true),
            (["*.localhost"], "a.localhost", 80, true), (["*"], "127.0.0.1", 80, false),
            (["127.*"], "127.1.2.3", 80, true),
            (["*"], "0.0.0.0", 80, false), (["*.*.*.*"], "127.0.0.1", 80, false), (["*l*"], "localhost", 80, false),
            (["*:*:*"], "::1", 80, false), (["fe80::*"], "fe80::1", 80, true), (["*:80"], "169.254.169.254", 80, false),
            (["169.254.169.254"], "169.254.169.254", 80, true), (["*"], "::1", 80, false), (["*"], "::", 80, false),
            (["*"], "0:0:0:0:0:0:0:1", 80, false), (["*"], "::ffff:127.0.0.1", 80, false),
            (["*"], "::ffff:7f00:1", 80, false), (["*"], "fe80::1%eth0", 80, false),
            (["*"], "fd00:ec2::254", 80, false),
            (["*"], "100.100.100.200", 80, false), (["*"], "10.0.0.1", 80, true), (["*"], "fd00::1", 80, true),
            (["*"], "1.2.3", 80, true), (["*"], "example.com", 80, true),
        ])
    func confined(patterns: [String], host: String, port: Int, isAllowed: Bool) {
        #expect(grant(hosts: patterns).decide(.host(host, port: port)).isAllowed == isAllowed)
    }

    @Test(
        "An allowed name may not resolve to this machine, except for servers that the person has set up",
        arguments: [
            (["api.example.com"], "203.0.113.9", "api.example.com", true),
            (["api.example.com"], "127.0.0.1", "api.example.com", false),
            (["api.example.com"], "169.254.169.254", "api.example.com", false),
            (["api.example.com"], "::ffff:127.0.0.1", "api.example.com", false),
            (["*", "api.example.com"], "127.0.0.1", "api.example.com", false),
            (["api.example.com", "127.0.0.1"], "127.0.0.1", "api.example.com", true),
            (["api.example.com", "127.0.0.1:81"], "127.0.0.1", "api.example.com", false),
            (["localhost"], "127.0.0.1", "localhost", true), (["*.localhost"], "::1", "a.localhost", true),
            (["127.0.0.1"], "127.0.0.1", "127.0.0.1", true), ([], "127.0.0.1", "mine.example.com", true),
        ])
    func addresses(patterns: [String], address: String, host: String, isAllowed: Bool) {
        let named = Grant(
            Grant.Layer(.bundle("b"), hosts: .named(patterns), setUp: ["mine.example.com:80"]))
        let decision = named.decide(.address(address, port: 80, host: host))
        #expect(decision.isAllowed == isAllowed, "\(decision)")
        #expect(Grant.person.decide(.address(address, port: 80, host: host)).isAllowed)
        let standard = Grant(Grant.Layer(.bundle("b"), hosts: .setUp([host])))
        #expect(standard.decide(.address(address, port: 80, host: host)).isAllowed)
    }

    @Test("A refusal shows the complete line if the list does not exist yet, including the default")
    func lines() {
        func mend(_ grant: Grant, _ request: GrantRequest) -> String? {
            if case .deny(_, let mend) = grant.decide(request) { mend } else { nil }
        }
        let setUp = Grant(
            Grant.Layer(
                .bundle("b"), hosts: .setUp(["api.example.com:443"]),
                folders: .init(roots: [root("/work")], isDefault: true)))
        #expect(setUp.decide(.host("api.example.com", port: 443)).isAllowed)
        #expect(
            mend(setUp, .host("127.0.0.1", port: 80)) == "add hosts: [set-up, \"127.0.0.1:80\"] to permissions")
        #expect(mend(setUp, .path("/etc/passwd", .read)) == "add paths: [., \"/etc\"] to permissions")
        #expect(mend(setUp, .secret("openai")) == "add secrets: [\"openai\"] to permissions")
        let written = grant(hosts: [], folders: .init(roots: [root("/work")]), secrets: ["ci-*"])
        #expect(mend(written, .path("/srv/x", .write)) == "add \"/srv\" to permissions.paths")
        #expect(mend(written, .path("/x", .write)) == "do it yourself", "The whole disk is no advice.")
        #expect(mend(written, .secret("openai")) == "add \"openai\" to permissions.secrets")
        #expect(mend(.model, .path("/x", .read)) == "do it yourself")
        #expect(mend(written, .path("/a \"b\"/x", .read)) == #"add "/a \"b\"" to permissions.paths"#)
        // The advice never names a folder that would stay closed anyway.
        let closing = grant(folders: .init(roots: [root("/work")], closed: ["/proc"]))
        #expect(mend(closing, .path("/proc/self/environ", .read)) == "do it yourself; no bundle may")
    }

    @Test(
        "Paths open only below the grant's folders, by each of their names",
        arguments: [
            ("/work/a", PathPurpose.read, true), ("/work", .read, true), ("/workshop/a", .read, false),
            ("/real/a/b", .write, true), ("/etc/passwd", .read, false), ("/work/.git/config", .read, true),
            ("/work/.git/hooks/x", .write, false), ("/work/a/.martlet/config.json", .write, false),
            ("/work/.github/x", .write, true), ("/work/own/data/vault", .read, false), ("/work/own", .read, false),
            ("/work", .tree, false), ("/work/a", .tree, true), ("/work/a", .own, false),
            ("/work/owner", .read, true),
        ])
    func paths(path: String, purpose: PathPurpose, isAllowed: Bool) {
        let folders = Grant.Folders(roots: [root("/work", canonical: "/real")], closed: ["/work/own"])
        let grant = grant(folders: folders)
        #expect(grant.decide(.path(path, purpose)).isAllowed == isAllowed)
        #expect(
            Grant.person.decide(.path(path, purpose)).isAllowed && !Grant.model.decide(.path(path, .read)).isAllowed)
    }

    @Test("A grant allows no writes to repositories and settings, unless it started in a work tree")
    func kept() {
        func writes(_ path: String, from start: String, _ git: FolderRoot.Git) -> Bool {
            let begun = FolderRoot(path: start, canonical: start, device: 1, inode: 1, git: git)
            return grant(folders: .init(roots: [root("/")], start: begun)).decide(.path(path, .write)).isAllowed
        }
        // A work tree inside a repository is a place to work in; the repository itself is not.
        #expect(writes("/x/.git/tree/a", from: "/x/.git/tree", .workTree))
        #expect(!writes("/x/.git/tree/.git/a", from: "/x/.git/tree", .workTree))
        #expect(!writes("/x/.git/a", from: "/x/.git/tree", .workTree))
        #expect(!writes("/x/.git/hooks/a", from: "/x/.git", .repository))
        #expect(!writes("/x/.git/hooks/a", from: "/x/.git/hooks", .other))
        #expect(!writes("/srv/x.git/hooks/a", from: "/srv/x.git", .repository))
        #expect(writes("/srv/x.git/hooks/a", from: "/srv", .other))
        #expect(!writes("/x/.martlet/a", from: "/x/.martlet", .other))
        #expect(!writes("/x/.martlet/tree/a", from: "/x/.martlet/tree", .workTree))
    }

    @Test("A given path is opened below the nearest folder that contains it")
    func opening() throws {
        let outer = grant("outer", folders: .init(roots: [root("/work"), root("/etc")]))
        let both = outer.narrowed(by: grant("inner", folders: .init(roots: [root("/work/in")], closed: ["/c"])))
        let path = try both.path(WritePath("./in/../in/x//y"), from: "/work")
        #expect(path.absolute == "/work/in/x/y" && path.bounds?.rest == Array("x/y".utf8))
        #expect(path.bounds?.root == root("/work/in") && path.bounds?.isWriting == true)
        for text in ["x", "in/../../etc/passwd", "/etc/passwd", "in/../x"] {
            #expect(throws: AccessFailure.self) { try both.path(ReadPath(text), from: "/work") }
        }
        #expect(throws: AccessFailure.self) { try outer.text(of: OwnPath("a"), from: "/work") }
        // The person's paths are not normalized, because the kernel resolves them.
        #expect(try Grant.person.path(ReadPath("a/../b"), from: "/work").absolute == "/work/a/../b")
        #expect(try Grant.person.text(of: OwnPath("a/../b"), from: "/work") == "a/../b")
    }

    @Test("A grant allows the secrets that all of its layers name")
    func secrets() {
        let both = grant(secrets: ["ci-*", "openai"]).narrowed(by: grant(secrets: ["*"]))
        #expect(both.decide(.secret("ci-token")).isAllowed && !both.decide(.secret("kamiwaza")).isAllowed)
        #expect(!grant().decide(.secret("openai")).isAllowed && !Grant.model.decide(.secret("openai")).isAllowed)
        #expect(Grant.person.decide(.secret("openai")).isAllowed)
    }

    @Test(
        "A grant allows the programs that all of its layers name, and network access for them only if all servers are allowed"
    )
    func programs() {
        func mend(_ grant: Grant, _ request: GrantRequest) -> String? {
            if case .deny(_, let mend) = grant.decide(request) { mend } else { nil }
        }
        func layer(_ programs: [String], _ hosts: Grant.Hosts = .setUp([])) -> Grant {
            Grant(Grant.Layer(.bundle("b"), hosts: hosts, programs: programs))
        }
        let both = layer(["make", "npm*"]).narrowed(by: layer(["*"]))
        #expect(both.decide(.program("make")).isAllowed && both.decide(.program("npmx")).isAllowed)
        #expect(!both.decide(.program("./make")).isAllowed && !both.decide(.program("rm")).isAllowed)
        #expect(mend(layer([]), .program("make")) == #"add programs: ["make"] to permissions"#)
        #expect(mend(both, .program("rm")) == #"add "rm" to permissions.programs"#)
        #expect(Grant.person.decide(.program("rm")).isAllowed && !Grant.model.decide(.program("ls")).isAllowed)
        #expect(mend(layer([]), .network) == #"add hosts: ["*"] to permissions"#)
        #expect(mend(layer([], .named(["*.com"])), .network) == #"add "*" to permissions.hosts"#)
        #expect(layer([], .named(["*"])).decide(.network).isAllowed && Grant.person.decide(.network).isAllowed)
        #expect(!layer([], .named(["*"])).narrowed(by: layer([])).decide(.network).isAllowed)
    }

    @Test("A client's grant opens the routes of its scopes, and names the missing scope")
    func routes() {
        let reader = Grant(Grant.Layer(.client("ci"), scopes: [.chat, .read]))
        #expect(reader.decide(.route([.read, .admin])).isAllowed && Grant.person.decide(.route([.admin])).isAllowed)
        #expect(
            reader.decide(.route([.approve, .admin]))
                == .deny(
                    rule: "the token 'ci' has the scopes chat and read, and this needs approve or admin",
                    mend: "create a token that has it: martlet gateway token create NAME --scope chat --scope read"
                        + " --scope approve"))
        let none = Grant(Grant.Layer(.client("ci"), scopes: []))
        if case .deny(let rule, _) = none.decide(.route([.read])) {
            #expect(rule == "the token 'ci' has no scope, and this needs read")
        }
        #expect(!reader.decide(.secret("openai")).isAllowed && !reader.decide(.path("/", .read)).isAllowed)
    }

    @Test("A reading tool that must be asked about is not allowed to a model, unless a bundle names the tool")
    func askedElsewhere() {
        let use = ToolUse("read", of: "files", .reads, mode: nil)
        #expect(Grant.person.decide(.tool(use)) == .ask(rule: "no rule and no grant permits it"))
        #expect(!grant().decide(.tool(use)).isAllowed && grant(tools: ["files/*"]).decide(.tool(use)).isAllowed)
        #expect(Grant.person.decide(.tool(ToolUse("read", of: "files", .reads, mode: .readOnly))).isAllowed)
    }

    @Test(
        "In the patterns of a grant only a star is special, and it matches slashes too",
        arguments: [
            ("files/*", "a/b", true), ("files/?ead", "read", false), ("files/?ead", "?ead", true),
            (#"files/\*"#, "*", false), (#"files/\*"#, #"\a"#, true),
        ])
    func stars(pattern: String, tool: String, expected: Bool) {
        let use = ToolUse(tool, of: "files", .writes, mode: nil)
        #expect(grant(tools: [pattern]).decide(.tool(use)).isAllowed == expected)
    }

    @Test("A grant approves tools that all of its layers name")
    func tools() {
        func use(
            _ tool: String, _ source: String, _ effect: Effect = .writes, _ ruling: ApprovalVerdict? = nil
        ) -> GrantRequest { .tool(ToolUse(tool, of: source, effect, mode: .readOnly, ruling: ruling)) }
        let both = grant(tools: ["files/*", "web/search"]).narrowed(by: grant(tools: ["*/read*"]))
        #expect(both.decide(use("read_file", "files")).isAllowed)
        #expect(
            both.decide(use("search", "web")) == .ask(rule: "the bundle 'b' does not permit the tool web/search"))
        for (tool, source) in [("write_file", "files"), ("search", "web"), ("read", "web")] {
            #expect(!both.decide(use(tool, source)).isAllowed)
        }
        #expect(!grant().decide(use("read", "files")).isAllowed)
        #expect(!grant(tools: ["files/*"]).narrowed(by: grant()).decide(use("read", "files")).isAllowed)
        // The person's rules are applied first, but a rule that allows a tool does not allow it for the bundle.
        #expect(both.decide(use("read_file", "files", .writes, .deny)).isDenied)
        #expect(both.decide(use("read_file", "files", .writes, .ask)) == .ask(rule: "one of your rules asks first"))
        #expect(!both.decide(use("write_file", "files", .writes, .allow)).isAllowed)
        #expect(both.decide(use("write_file", "files", .reads, .allow)).isAllowed)
    }

    @Test("Who needs a tool that a bundle does not permit is told the line that would permit it")
    func missingTool() {
        func mend(_ grant: Grant, _ ruling: ApprovalVerdict? = nil) -> String? {
            let use = ToolUse("git_log", of: "git", .writes, sends: true, mode: nil, ruling: ruling)
            do throws(AccessFailure) { try grant.check(.tool(use)) } catch { return error.mend }
            return nil
        }
        #expect(mend(grant()) == "add tools: [\"git/git_log\"] to permissions")
        #expect(mend(grant(tools: ["files/*"])) == "add \"git/git_log\" to permissions.tools")
        #expect(mend(grant(tools: ["git/*"])) == nil)
        #expect(mend(grant(tools: ["git/*"]), .ask) == "do it yourself", "No line would help.")
        let client = Grant(Grant.Layer(.client("host"), effects: .writes))
        #expect(mend(client) == "do it yourself", "A client has no lines.")
    }
}
