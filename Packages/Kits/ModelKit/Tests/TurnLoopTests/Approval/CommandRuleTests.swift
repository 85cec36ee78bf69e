import Capabilities
import JSON
import Testing

@testable import TurnLoop

@Suite("Command rules")
struct CommandRuleTests {
    private func verdict(
        _ command: String, _ rules: [ApprovalRule], isSandboxed: Bool = true
    ) -> ApprovalVerdict {
        let request = ApprovalRequest(
            call: ToolCall(id: "a", name: "bash.run", input: ["command": .string(command)]), tool: "bash.run",
            source: "files", effect: .writes, summary: "",
            reach: ToolReach(command: ToolReach.Command(command, isSandboxed: isSandboxed)))
        return ApprovalPolicy(rules: rules).decision(request)
    }

    private func rule(_ verdict: ApprovalVerdict, _ pattern: String) -> ApprovalRule {
        ApprovalRule(verdict, tool: "bash.run", arguments: ["/command": pattern])
    }

    @Test(
        "An allow rule without effect is recognised",
        arguments: [
            ("git status", false), ("make *", false), ("git diff > *", true), ("make && make test", true),
            ("sudo *", true),
            ("env *", true), ("echo $(date)", true), ("*", false),
        ])
    func emptiness(pattern: String, isEmpty: Bool) {
        #expect((rule(.allow, pattern).emptiness != nil) == isEmpty)
        #expect(rule(.deny, pattern).emptiness == nil)
    }

    // sandbox cases 60, 68 and 69
    @Test(
        "A rule allows what it names word by word, each part separately",
        arguments: [
            ("git status", true), ("git   status\t-s", true), ("git status 'a b'", true), ("git 'status'", true),
            ("git \"status\" -s", true), ("git status && swift build", true), ("swift test | git status", true),
            ("git status\nswift build", true), ("git status;", true), ("git statuses", false), ("git push", false),
            ("git status && rm x", false), ("git status; curl a", false), ("git status | sh", false),
            ("git status || x", false), ("git status & x", false), ("git status\nx", false), ("git", false),
            ("./git status", false), ("/tmp/git status", false), ("swift", true), ("", false),
        ])
    func allowing(command: String, isAllowed: Bool) {
        let rules = [rule(.allow, "git status *"), rule(.allow, "swift *")]
        #expect(verdict(command, rules) == (isAllowed ? .allow : .ask), "\(command)")
    }

    // sandbox case 70
    @Test(
        "A rule does not allow what takes the whole folder with it",
        arguments: [
            ("rm -rf /", false), ("rm -rf .", false), ("rm -rf ./", false), ("rm -rf ../..", false),
            ("rm -r //", false),
            ("rm -rf ~", false), ("rm -rf $HOME/*", false), ("rm -rf *", false), ("chmod -R 0 /", false),
            ("rm -rf build", true), ("rm ./a.txt", true), ("rm .hidden", true), ("chmod -R 0 build", true),
        ])
    func wholeFolder(command: String, isAllowed: Bool) {
        let rules = [rule(.allow, "rm *"), rule(.allow, "chmod *")]
        #expect(verdict(command, rules) == (isAllowed ? .allow : .ask), "\(command)")
    }

    @Test("No rule allows a command outside of a sandbox")
    func sandbox() {
        #expect(verdict("git status", [rule(.allow, "git *")], isSandboxed: false) == .ask)
        #expect(verdict("git status", [ApprovalRule(.allow, tool: "bash.run")], isSandboxed: false) == .ask)
        #expect(verdict("git status", [ApprovalRule(.allow, tool: "bash.run")]) == .allow)
    }

    /// Forms of bash that run or write something other than their words.
    static let hidden = [
        "touch${IFS}F", "{touch,F}", "t\\ouch F", "touch\\\n F", "$'\\x74ouch' F", "$\"touch\" F", "$a",
        "${x:=$(touch F)}",
        "echo $((a[$(touch F)]))", "test -v 'a[$(touch F)]'", "printf -v 'a[$(touch F)]' x", "read 'a[$(touch F)]'",
        "declare -i n; n='a[$(touch F)]'", "[[ x =~ $(touch F) ]]", "cat <(touch F)", "cat <<E\n$(touch F)\nE",
        "f() { touch F; }; f", "trap 'touch F' EXIT", "coproc touch F", "eval 'touch F'", "command touch F",
        "builtin eval 'touch F'", "exec touch F", "time touch F", "! touch F", "`touch F`", "echo x > F", "echo x >| F",
        "echo x &> F", "echo x >> F", "(touch F)", "touch F &", "if true; then touch F; fi", "bash -c 'touch F'",
        "sh -lc 'touch F'", "echo F | xargs touch", "find . -exec touch F ;",
        "git -c alias.x=!touch\\ F x",
        "python3 -c 'touch F'", "env touch F", "nice touch F", "timeout 5 touch F", "setsid touch F",
        "stdbuf -o0 touch F",
        "flock F touch F", "LD_PRELOAD=x touch F", "export PATH=.:$PATH", "PAGER=x touch F", "FOO=$(touch F)",
        "touch\u{202E} F", "touch \u{0} F", "touch\rF", "touch\u{A0}F", "t\u{043E}uch $F", "sudo touch F",
        "script -c 'touch F'", "tar --checkpoint-action=exec=touch x", "split --filter=touch F", "rsync -e touch a b",
        "rg --pre touch a",
    ]

    /// Programs that run or write more than their names say, and special characters of the shell.
    static let wide = [
        "ls *", "ls ~", "ls # F", "tee F", "dd of=F", "sed -i s/a/b/ F", "awk 'BEGIN{}'", "sort -oF a", "xxd -r a F",
        "curl -oF a", "curl -o F a", "find . -delete", "git --exec-path=. x", "git diff --ext-diff",
        "base64 -o F a", "sort -uo F a", "sort --outp=F", "sort --comp=./x", "tar cf a --checkpoint-act=exec=x b",
        "tar --to-com=x",
        "tar cIf x a b", "split --filt=x", "curl -so F", "curl --trace F", "git rebase --exe=x", "git archive -oF",
        "git submodule foreach x", "git bisect run x", "git grep --open-files-in=x", "shuf -o F", "iconv -oF",
        "uniq a F", "xxd a F", "jobs -x F", "compgen -C F", "history -w F", "git difftool -yx F", "fd -Hx F",
        "source F", ". F",
        "t\u{043E}uch F",
    ]

    // sandbox cases 62, 63, 64, 65, 66, 67 and 71
    @Test("No rule allows more than programs and their arguments", arguments: hidden + wide)
    func more(command: String) {
        let names = [
            "touch", "echo", "base64", "shuf", "iconv", "uniq", "jobs", "compgen", "history", "fd", "awk", "test",
            "printf",
            "read", "declare", "cat", "trap", "eval", "command", "builtin", "exec",
            "git",
            "python3", "env", "nice", "timeout", "setsid", "stdbuf", "flock", "export", "ls", "sudo", "script", "tee",
            "dd",
            "sed", "awk", "sort", "tar", "split", "xxd", "curl", "rsync", "rg", "find", "bash", "sh", "source", ".",
            "time",
            "coproc", "if", "then", "fi", "!", "n", "f",
        ]
        #expect(verdict(command, names.map { rule(.allow, "\($0) *") }) == .ask, "\(command)")
    }

    // sandbox cases 62, 63 and 64
    @Test("A hidden program does not bypass a rule", arguments: hidden)
    func hiding(command: String) {
        let rules = [ApprovalRule(.allow, tool: "bash.run"), rule(.deny, "touch *")]
        #expect(verdict(command, rules) != .allow, "\(command)")
    }

    @Test(
        "A rule denies every part, place and spelling",
        arguments: [
            "rm x", "rm -rf /", "/bin/rm x", "a; rm x", "a && rm x", "a | rm", "env rm x", "sudo -u a rm x", "xargs rm",
            "bash -c 'rm x'", "'rm' x", "r\"m\" x", "r\\m x", "$(rm x)", "if a; then rm x; fi", "rm\tx", "(rm x)",
            "find . -exec rm {} +", "timeout 5 /usr/bin/rm x", "FOO=1 rm x", "rm x > y", "python3 -c \"run('rm x')\"",
        ])
    func denying(command: String) {
        #expect(verdict(command, [ApprovalRule(.allow, tool: "bash.run"), rule(.deny, "rm *")]) == .deny)
    }

    @Test(
        "A possible denial is asked about, and unrelated commands are left alone",
        arguments: [
            ("echo rm x", ApprovalVerdict.ask), ("git rm x", .ask), ("$a", .ask), ("a > b", .ask),
            ("strange rm x", .ask),
            ("ls", .allow), ("ls; git status", .allow), ("echo farm", .allow), ("rmdir x", .allow),
            ("bash -c '/bin/r? x'", .ask), ("eval 'r{m,} x'", .ask), ("printf cm0 | base64 -d | sh", .ask),
            ("awk 'BEGIN{}'", .ask), ("python3 -c 'r'", .ask), ("sh x.sh", .ask),
        ])
    func doubts(command: String, expected: ApprovalVerdict) {
        #expect(verdict(command, [ApprovalRule(.allow, tool: "bash.run"), rule(.deny, "rm *")]) == expected)
    }

    // sandbox case 61
    @Test(
        "Every part is checked; with too many parts only denials are certain", arguments: [49, 50, 51, 500])
    func manyParts(count: Int) {
        let command = Array(repeating: "ls", count: count - 1).joined(separator: ";")
        let rules = [rule(.allow, "ls *"), rule(.deny, "rm *")]
        #expect(verdict(command, rules) == .allow)
        #expect(
            verdict(command + ";id", rules + [ApprovalRule(.ask, tool: "bash.run", arguments: ["/command": "id"])])
                == .ask)
        #expect(verdict(command + ";rm x", rules) == .deny)
        #expect(verdict(command + ";id", rules) == .ask)
    }

    @Test(
        "A rule denies a program with options before or among its arguments",
        arguments: [
            ("git push *", "git --no-pager push origin"), ("git push *", "git -C . push"),
            ("git push *", "env git -x push"),
            ("npm publish *", "npm --silent publish"), ("rm -rf *", "rm -fr x"), ("rm -rf *", "rm -v -rf x"),
            ("./deploy.sh *", "././deploy.sh x"), ("./deploy.sh *", "bash deploy.sh x"),
            ("/usr/sbin/reboot *", "reboot now"),
        ])
    func options(pattern: String, command: String) {
        let rules = [ApprovalRule(.allow, tool: "bash.run"), rule(.deny, pattern)]
        #expect(verdict(command, rules) != .allow)
        #expect(verdict("git stash push", rules) == .allow && verdict("git status", rules) == .allow)
    }

    @Test("A rule is about its member, and has no effect without our sandbox")
    func decoy() {
        func verdict(_ input: JSON, _ rules: [ApprovalRule], _ reach: ToolReach) -> ApprovalVerdict {
            let call = ToolCall(id: "a", name: "exec", input: input)
            let request = ApprovalRequest(
                call: call, tool: "exec", source: "far", effect: .writes, summary: "", reach: reach)
            return ApprovalPolicy(rules: rules).decision(request)
        }
        let allow = [ApprovalRule(.allow, tool: "exec", arguments: ["/script": "ls *"])]
        let sandboxed = ToolReach(command: ToolReach.Command("ls", isSandboxed: true))
        #expect(verdict(["script": "ls"], allow, ToolReach(command: .init("ls", isSandboxed: true))) == .allow)
        #expect(verdict(["script": "rm -rf ~", "command": "ls"], allow, sandboxed) == .ask)
        #expect(verdict(["script": "ls"], allow, ToolReach()) == .ask)
        #expect(
            verdict(["folder": "evil", "command": "./build.sh x"], [rule(.allow, "./build.sh *")], sandboxed) == .ask)
        let deny = [ApprovalRule(.deny, arguments: ["/path": "secrets/**"])]
        #expect(verdict(["path": ["a", "secrets/k"]], deny, ToolReach()) == .deny)
        let ask = [ApprovalRule(.ask, arguments: ["/path": "Package.swift"]), ApprovalRule(.allow, tool: "exec")]
        #expect(verdict(["files": []], ask, ToolReach(paths: [AbsolutePath("/Package.swift")])) == .ask)
        #expect(verdict(["files": []], ask, ToolReach(paths: [AbsolutePath("/other")])) == .allow)
        #expect(
            verdict([:], [ApprovalRule(.allow, tool: "exec"), ApprovalRule(.deny, source: "f*r")], ToolReach()) == .deny
        )
    }

    @Test("A question about one part is a question about all")
    func asking() {
        let rules = [ApprovalRule(.allow, tool: "bash.run"), rule(.ask, "git push *")]
        #expect(verdict("git status", rules) == .allow)
        #expect(verdict("git push", rules) == .ask)
        #expect(verdict("git status && git push origin", rules) == .ask)
        #expect(verdict("env git push", rules) == .ask)
    }

    // sandbox case 84
    @Test(
        "A remembered rule has the program and its subcommand, and nothing that would allow everything",
        arguments: [
            ("git log -3", "git log *"), ("swift build", "swift build *"), ("ls -l src", "ls *"), ("ls", "ls *"),
            ("make test", "make test *"), ("prove t/a.t", "prove *"), ("python3 a.py", nil), ("bash x.sh", nil),
            ("env a", nil), ("git", nil), ("git -c a=b log", nil), ("sudo ls", nil), ("xargs ls", nil), ("npx a", nil),
            ("uv run pytest", nil), ("npm exec a", nil), ("docker run a", nil), ("python3.11 a", nil), ("jobs", nil),
            ("git submodule foreach", nil), ("nodejs a", nil), ("npm run test", nil),
            ("./build.sh", nil), ("ls; id", nil), ("ls > a", nil), ("a*b c", nil),
        ] as [(String, String?)])
    func remembering(command: String, expected: String?) {
        let request = ApprovalRequest(
            call: ToolCall(id: "a", name: "bash.run", input: ["command": .string(command)]), tool: "bash.run",
            source: "files", effect: .writes, summary: "",
            reach: ToolReach(command: ToolReach.Command(command, isSandboxed: true)))
        let rule = request.rule(.allow, lasting: .always)
        #expect(rule?.arguments["/command"] == expected, "\(command)")
        guard let rule else { return }
        #expect(verdict(command, [rule]) == .allow)
        #expect(rule.tool == "bash.run" && rule.source == "files" && rule.scope == .always)
    }
}
