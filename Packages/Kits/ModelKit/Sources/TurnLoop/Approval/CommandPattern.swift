import Capabilities

/// A pattern for commands, word by word: `git status`, `swift *`, `npm run test*`.
///
/// `*` stands for anything within a word, and at the end also for more words.
struct CommandPattern {
    let text: String
    private let words: [String]
    private let takesMore: Bool

    init(_ pattern: String) {
        text = pattern
        words = pattern.split(whereSeparator: \.isWhitespace).map(String.init)
        takesMore = words.last.map { $0.hasSuffix("*") && !$0.hasSuffix("\\*") } ?? true
    }

    /// Whether it names exactly one program with these words.
    func fits(_ given: some Collection<String>) -> Bool {
        var rest = given[...]
        for (index, word) in words.enumerated() {
            guard let next = rest.popFirst() else { return index == words.count - 1 && word == "*" }
            guard Self.matches(word, next) else { return false }
        }
        return rest.isEmpty || takesMore
    }

    /// How certainly a denial or a question applies to a shell text.
    func concerns(_ text: String) -> CommandFit {
        if case .plain(let parts) = ShellCommand(text) { return parts.map(concerns).max() ?? .no }
        // Unreadable text may be any command.
        return max(mentioned(in: ShellCommand.words(in: text)), .perhaps)
    }

    /// The same for one command. A program that runs others may run what it names, and what it does not show.
    func concerns(_ given: [String]) -> CommandFit {
        if fits(given) || byName.fits(Self.named(given)) { return .yes }
        let mentioned = mentioned(in: given.flatMap(ShellCommand.words))
        return CommandReach.runsOthers(given) ? max(mentioned, .perhaps) : min(mentioned, .perhaps)
    }

    /// The pattern that remembers an answer about a command: its program and its subcommand. Nil if that would cover
    /// more than was asked.
    init?(remembering command: String) {
        guard case .plain(let parts) = ShellCommand(command), parts.count == 1, let words = parts.first,
            CommandReach.canBeRemembered(words)
        else { return nil }
        // The second word of `git log -3` or `swift build` is the subcommand.
        let order = words.dropFirst().first ?? ""
        let isOrder = !order.isEmpty && !order.hasPrefix("-") && order.allSatisfy { $0 == "-" || "a"..."z" ~= $0 }
        if CommandReach.needsOrder(words[0]), !isOrder { return nil }
        self.init((words.prefix(isOrder ? 2 : 1).map(Glob.escape) + ["*"]).joined(separator: " "))
    }

    /// Whether its words occur anywhere. With options between them it may still apply.
    private func mentioned(in loose: [String]) -> CommandFit {
        let pattern = byName
        guard let program = pattern.words.first else { return .yes }
        let rest = pattern.words.dropFirst().filter { $0 != "*" }
        var best = CommandFit.no
        var count = 0
        for start in loose.indices where Self.matches(program, Self.named([loose[start]])[0]) {
            count += 1
            // A text that repeats it this often is meant to take long.
            if count > 100 { return max(best, .perhaps) }
            let following = Array(loose[start...])
            if pattern.fits(Self.named(Array(following.prefix(pattern.words.count)))) { return .yes }
            var wanted = rest[...]
            for word in following.dropFirst() {
                if let next = wanted.first, Self.matches(next, word) { wanted.removeFirst() }
            }
            let hasOptions = following.dropFirst().contains { $0.hasPrefix("-") }
            let asksForOptions = rest.contains { $0.hasPrefix("-") }
            if hasOptions, wanted.isEmpty || asksForOptions { best = .perhaps }
        }
        return best
    }

    /// The same pattern with only the program's name, for any location of the program.
    private var byName: CommandPattern {
        guard let first = words.first, first.contains("/") else { return self }
        return CommandPattern(Self.named(words).joined(separator: " "))
    }

    /// A program by its name alone, at any location.
    private static func named(_ words: [String]) -> [String] {
        guard let first = words.first, let name = first.split(separator: "/").last else { return words }
        return [String(name)] + words.dropFirst()
    }

    /// A slash has no special meaning in a command.
    private static func matches(_ pattern: String, _ word: String) -> Bool {
        Glob.matchesWide(pattern, word)
    }
}

/// How certainly a rule applies to a command.
enum CommandFit: Comparable {
    case no, perhaps, yes
}

/// What programs can do besides their purpose.
enum CommandReach {
    /// Whether a program with these arguments runs others or writes unexpectedly. No command rule allows it: an
    /// approval of `find *` is meant for finding.
    static func runsOthers(_ words: [String]) -> Bool {
        guard let first = words.first else { return false }
        let (name, arguments) = (name(of: first), words.dropFirst())
        return name == unversioned(name)
            ? runsOthers(name, arguments) : runsOthers(name, arguments) || runsOthers(unversioned(name), arguments)
    }

    private static func runsOthers(_ program: String, _ arguments: ArraySlice<String>) -> Bool {
        if carriers.contains(program) { return true }
        if let orders = orders[program], arguments.contains(where: orders.contains) { return true }
        // An approval of `rm *` is not meant for the whole folder.
        if changing.contains(program), arguments.contains(where: isWholeFolder) { return true }
        // The second argument is written.
        if copying.contains(program), arguments.count(where: { !$0.hasPrefix("-") }) > 1 { return true }
        guard let options = options[program] else { return false }
        // The old form without a hyphen.
        let old = program == "tar" ? arguments.first.map { ["-" + $0] } ?? [] : []
        return (arguments + old).contains { word in options.contains { isOption(word, $0) } }
    }

    /// Whether a word is this option: a letter among others, or a long one that may be abbreviated.
    private static func isOption(_ word: String, _ option: String) -> Bool {
        if option.hasPrefix("--") {
            let name = word.prefix { $0 != "=" }
            return name.count > 2 && name.hasPrefix("--") && (option.hasPrefix(name) || name.hasPrefix(option))
        }
        guard word.hasPrefix("-"), !word.hasPrefix("--") else { return false }
        return option.utf8.count == 2 ? word.dropFirst().contains(option.dropFirst()) : word.hasPrefix(option)
    }

    /// Whether an answer about a program may be remembered by its name and subcommand.
    static func canBeRemembered(_ words: [String]) -> Bool {
        guard let first = words.first, !first.contains("/"), !runsOthers(words) else { return false }
        if interpreters.contains(unversioned(name(of: first))) { return false }
        return !orderly.contains(first) || !words.dropFirst().prefix(2).contains(where: running.contains)
    }

    /// Whether the first argument determines what the program does.
    static func needsOrder(_ program: String) -> Bool { orderly.contains(program) }

    private static func name(of program: String) -> String { program.split(separator: "/").last.map(String.init) ?? "" }

    /// `python3.11` is `python`.
    private static func unversioned(_ name: String) -> String {
        let end = name.lastIndex { !$0.isNumber && $0 != "." }.map(name.index(after:)) ?? name.endIndex
        return String(name[..<end])
    }

    private static func set(_ words: String) -> Set<String> {
        Set(words.split(whereSeparator: \.isWhitespace).map(String.init))
    }

    /// These run programs or code given as arguments, or write their input.
    private static let carriers = set(
        """
        env sudo doas su nice ionice nohup timeout setsid stdbuf unbuffer watch xargs parallel time flock script chroot
        unshare nsenter setpriv runuser taskset chrt strace ltrace gdb valgrind expect at batch crontab systemd-run ssh
        busybox toybox bash sh dash zsh ksh fish csh tcsh rbash eval exec command builtin source . trap export declare
        typeset local readonly set shopt alias unalias enable hash read mapfile readarray let unset getopts jobs compgen
        complete compopt history fc bind awk gawk mawk nawk sed tee dd ed ex vi vim nvim emacs less more man
        """)

    private static let copying = set("uniq xxd")

    /// These remove or change their arguments with everything in them.
    private static let changing = set("rm rmdir shred chmod chown chgrp mv truncate")

    /// Whether a path is a root, the current folder or one above it: it consists of dots and slashes.
    private static func isWholeFolder(_ word: String) -> Bool {
        !word.isEmpty && word.utf8.allSatisfy { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ".") }
    }

    /// Subcommands that run other programs.
    private static let orders: [String: Set<String>] = [
        "git": set(
            "foreach bisect difftool mergetool filter-branch archive rebase send-email instaweb daemon config alias"),
        "docker": set("run exec"), "podman": set("run exec"), "kubectl": set("exec run"),
    ]

    /// Options that run other programs.
    private static let options: [String: [String]] = [
        "find": ["-exec", "-ok", "-delete", "-fprint", "-fls"], "fd": ["-x", "-X", "--exec"],
        "fdfind": ["-x", "-X", "--exec"],
        "git": [
            "-c", "-C", "--exec", "--config-env", "--git-dir", "--work-tree", "--upload-pack", "--receive-pack",
            "--ext-diff", "--textconv", "--output", "--open-files-in-pager", "-O", "-x", "--extcmd",
        ],
        "tar": [
            "--checkpoint-action", "--to-command", "--use-compress-program", "-I", "--info-script",
            "--new-volume-script", "-F", "--rsh-command", "--rmt-command",
        ],
        "rg": ["--pre", "--hostname-bin", "-z", "--search-zip"],
        "sort": ["-o", "--output", "--compress-program", "-T"], "split": ["--filter"], "shuf": ["-o", "--output"],
        "iconv": ["-o", "--output"], "xxd": ["-r"], "base64": ["-o"], "diff": ["--diff-program"],
        "sdiff": ["--diff-program"], "diff3": ["--diff-program"],
        "curl": [
            "-o", "-O", "--output", "--remote-name", "-K", "--config", "-D", "--dump-header", "-c", "--cookie-jar",
            "-T", "--trace", "--stderr", "--libcurl", "--hsts", "--alt-svc", "--etag-save",
        ],
        "wget": ["-O", "-o", "-P", "--output", "--use-askpass", "-e", "--execute"],
        "rsync": ["-e", "--rsh", "--rsync-path"], "scp": ["-S", "-o"], "sftp": ["-S", "-o", "-b"],
        "printf": ["-v"], "test": ["-v"], "[": ["-v"], "python": ["-c"], "perl": ["-e", "-E", "-i"],
        "ruby": ["-e", "-i"], "node": ["-e", "--eval", "-p", "--print", "-r", "--require"], "php": ["-r"],
        "lua": ["-e"], "make": ["--eval", "-f", "-C", "--file", "--makefile"], "zip": ["-T", "--unzip-command"],
        "go": ["-exec", "-toolexec"],
    ]

    /// Programs whose first argument is a subcommand.
    private static let orderly = set(
        """
        git docker podman kubectl npm pnpm yarn cargo go swift uv pip pip3 apt apt-get dnf brew systemctl gh glab make just
        gradle mvn dotnet terraform aws
        """)

    /// Approving these subcommands would approve whatever follows.
    private static let running = set(
        "run exec x dlx foreach bisect rebase difftool generate tool submodule eval script")

    /// Approving these programs would approve everything.
    private static let interpreters = set(
        """
        python perl ruby node nodejs ts-node tsx deno bun php lua npx uvx pipx bunx pnpx java osascript pwsh R Rscript
        julia ghci irb
        """)
}
