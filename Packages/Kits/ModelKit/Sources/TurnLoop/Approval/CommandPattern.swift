import Capabilities

/// A pattern for commands, word by word: `git status`, `swift *`, `npm run test*`.
///
/// `*` stands for anything within a word, and at the end for more words too.
struct CommandPattern {
    let text: String
    private let words: [String]
    private let takesMore: Bool

    init(_ pattern: String) {
        text = pattern
        words = pattern.split(whereSeparator: \.isWhitespace).map(String.init)
        takesMore = words.last.map { $0.hasSuffix("*") && !$0.hasSuffix("\\*") } ?? true
    }

    /// Whether it speaks of nothing but one program with these words.
    func fits(_ given: some Collection<String>) -> Bool {
        var rest = given[...]
        for (index, word) in words.enumerated() {
            guard let next = rest.popFirst() else { return index == words.count - 1 && word == "*" }
            guard Self.matches(word, next) else { return false }
        }
        return rest.isEmpty || takesMore
    }

    /// How surely a denial or a question concerns a text for a shell.
    func concerns(_ text: String) -> CommandFit {
        if case .plain(let parts) = ShellCommand(text) { return parts.map(concerns).max() ?? .no }
        // What could not be read may be anything.
        return max(mentioned(in: ShellCommand.words(in: text)), .perhaps)
    }

    /// The same of one command. What runs others may run what it names, and what it does not show.
    func concerns(_ given: [String]) -> CommandFit {
        if fits(given) || byName.fits(Self.named(given)) { return .yes }
        let mentioned = mentioned(in: given.flatMap(ShellCommand.words))
        return CommandReach.runsOthers(given) ? max(mentioned, .perhaps) : min(mentioned, .perhaps)
    }

    /// A pattern by which an answer about a command is remembered: its program, and what that is told to do. Nil where that
    /// would say more than was asked.
    init?(remembering command: String) {
        guard case .plain(let parts) = ShellCommand(command), parts.count == 1, let words = parts.first,
            CommandReach.canBeRemembered(words)
        else { return nil }
        // The second word of `git log -3` or `swift build` is what the program is to do.
        let order = words.dropFirst().first ?? ""
        let isOrder = !order.isEmpty && !order.hasPrefix("-") && order.allSatisfy { $0 == "-" || "a"..."z" ~= $0 }
        if CommandReach.needsOrder(words[0]), !isOrder { return nil }
        self.init((words.prefix(isOrder ? 2 : 1).map(Glob.escape) + ["*"]).joined(separator: " "))
    }

    /// Whether the words that it speaks of stand anywhere. With options between them it may still be meant.
    private func mentioned(in loose: [String]) -> CommandFit {
        let pattern = byName
        guard let program = pattern.words.first else { return .yes }
        let rest = pattern.words.dropFirst().filter { $0 != "*" }
        var best = CommandFit.no
        var count = 0
        for start in loose.indices where Self.matches(program, Self.named([loose[start]])[0]) {
            count += 1
            // A text that names it so often wants to take long.
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

    /// The same about the program wherever it lies.
    private var byName: CommandPattern {
        guard let first = words.first, first.contains("/") else { return self }
        return CommandPattern(Self.named(words).joined(separator: " "))
    }

    /// A program by its name alone, wherever it lies.
    private static func named(_ words: [String]) -> [String] {
        guard let first = words.first, let name = first.split(separator: "/").last else { return words }
        return [String(name)] + words.dropFirst()
    }

    /// A slash is nothing special in a command.
    private static func matches(_ pattern: String, _ word: String) -> Bool {
        Glob.matchesWide(pattern, word)
    }
}

/// How surely a rule speaks of a command.
enum CommandFit: Comparable {
    case no, perhaps, yes
}

/// What programs can do beside what they are called for.
enum CommandReach {
    /// Whether a program, called like this, runs others or writes what its name does not say. No rule about commands
    /// allows it: who allows `find *` thinks of what it finds.
    static func runsOthers(_ words: [String]) -> Bool {
        guard let first = words.first else { return false }
        let (name, arguments) = (name(of: first), words.dropFirst())
        return name == unversioned(name)
            ? runsOthers(name, arguments) : runsOthers(name, arguments) || runsOthers(unversioned(name), arguments)
    }

    private static func runsOthers(_ program: String, _ arguments: ArraySlice<String>) -> Bool {
        if carriers.contains(program) { return true }
        if let orders = orders[program], arguments.contains(where: orders.contains) { return true }
        // Who allows `rm *` does not think of the whole folder.
        if changing.contains(program), arguments.contains(where: isWholeFolder) { return true }
        // The second is written.
        if copying.contains(program), arguments.count(where: { !$0.hasPrefix("-") }) > 1 { return true }
        guard let options = options[program] else { return false }
        // Without a hyphen, as of old.
        let old = program == "tar" ? arguments.first.map { ["-" + $0] } ?? [] : []
        return (arguments + old).contains { word in options.contains { isOption(word, $0) } }
    }

    /// Whether a word is an option: a letter among others, or a long one that may be shortened.
    private static func isOption(_ word: String, _ option: String) -> Bool {
        if option.hasPrefix("--") {
            let name = word.prefix { $0 != "=" }
            return name.count > 2 && name.hasPrefix("--") && (option.hasPrefix(name) || name.hasPrefix(option))
        }
        guard word.hasPrefix("-"), !word.hasPrefix("--") else { return false }
        return option.utf8.count == 2 ? word.dropFirst().contains(option.dropFirst()) : word.hasPrefix(option)
    }

    /// Whether an answer about a program may be remembered by its name and what it is to do.
    static func canBeRemembered(_ words: [String]) -> Bool {
        guard let first = words.first, !first.contains("/"), !runsOthers(words) else { return false }
        if interpreters.contains(unversioned(name(of: first))) { return false }
        return !orderly.contains(first) || !words.dropFirst().prefix(2).contains(where: running.contains)
    }

    /// Whether the first argument, and not the program, says what is done.
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

    /// They take programs for arguments, or text that is one, or write what they are given.
    private static let carriers = set(
        """
        env sudo doas su nice ionice nohup timeout setsid stdbuf unbuffer watch xargs parallel time flock script chroot
        unshare nsenter setpriv runuser taskset chrt strace ltrace gdb valgrind expect at batch crontab systemd-run ssh
        busybox toybox bash sh dash zsh ksh fish csh tcsh rbash eval exec command builtin source . trap export declare
        typeset local readonly set shopt alias unalias enable hash read mapfile readarray let unset getopts jobs compgen
        complete compopt history fc bind awk gawk mawk nawk sed tee dd ed ex vi vim nvim emacs less more man
        """)

    private static let copying = set("uniq xxd")

    /// They remove or change what they are given, with all that is in it.
    private static let changing = set("rm rmdir shred chmod chown chgrp mv truncate")

    /// Whether a path is a root, the present folder or one above it: it is made of dots and slashes.
    private static func isWholeFolder(_ word: String) -> Bool {
        !word.isEmpty && word.utf8.allSatisfy { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ".") }
    }

    /// Orders by which they run others.
    private static let orders: [String: Set<String>] = [
        "git": set(
            "foreach bisect difftool mergetool filter-branch archive rebase send-email instaweb daemon config alias"),
        "docker": set("run exec"), "podman": set("run exec"), "kubectl": set("exec run"),
    ]

    /// Options by which others do the like.
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

    /// They do what their first argument says.
    private static let orderly = set(
        """
        git docker podman kubectl npm pnpm yarn cargo go swift uv pip pip3 apt apt-get dnf brew systemctl gh glab make just
        gradle mvn dotnet terraform aws
        """)

    /// To allow these orders is to allow whatever follows.
    private static let running = set(
        "run exec x dlx foreach bisect rebase difftool generate tool submodule eval script")

    /// To allow them is to allow everything.
    private static let interpreters = set(
        """
        python perl ruby node nodejs ts-node tsx deno bun php lua npx uvx pipx bunx pnpx java osascript pwsh R Rscript
        julia ghci irb
        """)
}
