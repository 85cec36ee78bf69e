import Capabilities
import JSON
import Registry
import SSHClient
import SSHCore

/// The actions for hosts.
struct HostActions: Sendable {
    let book: HostBook
    let parallel: Int
    let secrets: @Sendable () -> (any SecretStore)?

    var all: [Action] { [hosts, test, run, forward, trust] }

    private var given: Parameter<String> {
        .argument(
            "hosts", "Hosts: names and patterns of your SSH settings, or addresses, with commas between them",
            completion: book.completion)
    }

    /// The hosts of an action, connected to as the settings say.
    func fleet(_ names: String, _ context: ActionContext) throws -> Fleet {
        let targets = try book.targets(names, for: context)
        if targets.count > 1 {
            let names = targets.prefix(20).map(\.name).joined(separator: ", ")
            let more = targets.count > 20 ? " and \(targets.count - 20) more" : ""
            context.notice("on \(targets.count) hosts: \(names)\(more)")
        }
        return Fleet(targets, atMost: parallel, for: context, secrets())
    }

    // MARK: Hosts

    private var hosts: Action {
        Action(
            "ssh.hosts", "List the hosts of your SSH settings", .reads,
            .option("match", "Only these: names and patterns, with commas between them", as: String?.self)
        ) { context, wanted in
            let config = try book.settings(context.host)
            let addresses =
                if let wanted { try HostSelection(wanted).addresses(in: config) } else {
                    try config.hosts.map { try SSHAddress(host: $0.name) }
                }
            let places = Dictionary(config.hosts.map { ($0.name, $0.place.description) }) { first, _ in first }
            return context.rows(
                try addresses.map { try HostRow(config.settings(for: $0), place: places[$0.host]) },
                orSay:
                    "no Host line of ~/.ssh/config names a host; an address such as me@10.0.0.1:2222 works without one")
        }
        .asDefault()
        .details(
            "The values are those that 'ssh -G' prints, so that a host leads where ssh leads. Martlet connects by itself where it "
                + "can verify everything that the settings ask for; 'ssh' in the column 'by' means that only the system's ssh can, "
                + "and the reason tells which line says so."
        )
        .example("martlet ssh hosts --match 'web*'", "Where the hosts lead, and whether their keys are known")
    }

    // MARK: Test

    private var test: Action {
        Action("ssh.test", "Connect to hosts, and sign in", .writes, given) { context, names in
            let fleet = try fleet(names, context)
            let clock = ContinuousClock()
            let rows = try await fleet.results { target in
                let start = clock.now
                do {
                    let reason = try await fleet.withConnection(to: target) { $0.reason }
                    return TestRow(target, systemReason: reason, took: clock.now - start)
                } catch let error where !(error is CancellationError) {
                    return TestRow(target, failure: AnyFailure(error), took: clock.now - start)
                }
            } ended: { _, count in
                context.progress("connecting", completed: count, of: fleet.targets.count)
            }
            // Of a single host, the error is that of the action.
            if rows.count == 1, let failure = rows.first?.failure { throw failure }
            return HostOutcomes(rows: rows)
        }
        .sending()
        .question(KeyQuestions.questionID, "Whether to trust the keys of unknown hosts; only on a terminal")
        .question("ssh.passphrase", "The passphrase of a key, if the vault does not have it")
        .question("ssh.password", "Your password on a host, if the vault does not have it")
        .question("ssh.answer", "The answer to a question of a host, such as a code")
        .details(
            "Nothing runs on the hosts. The exit code is 3 if a key or the user was refused, else 4 if a host does not answer."
        )
        .example("martlet ssh test 'web*,db1'", "Check that hosts can be signed in to")
    }

    // MARK: Run

    private var run: Action {
        Action(
            "ssh.run", "Run a command on hosts", .destroys, given,
            .argument("program", "The program to run there", as: ProgramName.self),
            .argument("arguments", "Arguments of the program", as: [String].self),
            .option("input", "Text for its standard input", as: String?.self),
            .option(
                "limit", "How long the command may take on each host; default: as long as it wants", as: Duration?.self)
        ) { context, names, program, words, input, limit in
            let command = try RunCommand(program: program.text, words: words, input: input, limit: limit)
            return try await RunAction(fleet: try fleet(names, context), command: command, context: context).perform()
        }
        .agreedByCall()
        .byName()
        .sending()
        .streaming(RunAction.events)
        .question(KeyQuestions.questionID, "Whether to trust the keys of unknown hosts; only on a terminal")
        .question("ssh.passphrase", "The passphrase of a key, if the vault does not have it")
        .question("ssh.password", "Your password on a host, if the vault does not have it")
        .question("ssh.answer", "The answer to a question of a host, such as a code")
        .details(
            "The hosts are listed first. Lines come as the hosts print them, and a slow or dead host delays no other. The program gets "
                + "its arguments as they are; for a line of a shell, run 'sh -c LINE'. Of each host, the result has the first "
                + "1 MiB of what it printed.\n\n"
                + "The host's key is checked before anything about you is sent. On a terminal you are asked about unknown hosts, about "
                + "all of them together; otherwise each is an error with the command that accepts its key. A changed key is never "
                + "asked about.\n\n"
                + "The exit code is 3 if a host or its sign-in was refused, else 5 if a command failed, else 4 if a host did not "
                + "answer, and 2 if no host matches. A command is never repeated. If you stop it, the connections end; a command "
                + "that goes on without reading or writing may still run there.\n\n"
                + "A bundle must list ssh.run in permissions.actions, the program in permissions.programs and the hosts' addresses in "
                + "permissions.hosts."
        )
        .example("martlet ssh run 'web*' -- uptime", "Run a command on all hosts whose names begin with web")
        .example("martlet ssh run db1 -- sh -c 'df -h | tail -1'", "Run a line of a shell")
    }

    // MARK: Forward

    private var forward: Action {
        Action(
            "ssh.forward", "Pass a port of this machine on to one behind a host", .destroys,
            .argument(
                "host", "The host: a name of your SSH settings, or an address", as: String.self,
                completion: book.completion),
            .argument("to", "Port there, or host:port as the host calls it", as: String.self),
            .option("port", "Port of 127.0.0.1 to listen on, 0 for any; default: the same as there", as: Int?.self),
            .option("socket", "Path of a socket to listen on instead", as: OwnPath?.self)
        ) { context, names, to, port, socket in
            let destination = try SSHDestination(to)
            try context.caller.grant.check(.host(destination.host, port: destination.port))
            let local: PortForward.Local =
                if let socket { .socket(try context.text(of: socket)) } else { .port(port ?? destination.port) }
            return try await ForwardAction(
                fleet: try fleet(names, context), destination: destination, local: local, context: context
            ).perform()
        }
        .agreedByCall()
        .byName()
        .sending()
        .streaming(ForwardAction.events)
        .question(KeyQuestions.questionID, "Whether to trust the key of an unknown host; only on a terminal")
        .question("ssh.passphrase", "The passphrase of a key, if the vault does not have it")
        .question("ssh.password", "Your password on the host, if the vault does not have it")
        .question("ssh.answer", "The answer to a question of the host, such as a code")
        .details(
            "It lasts until it is stopped. Only this machine can connect to the port, and only you to a socket. Up to eight connections "
                + "are passed on at once; more wait. A bundle must list both the host's address and the one behind it in permissions.hosts."
        )
        .example("martlet ssh forward db1 5432", "Reach the database of db1 at 127.0.0.1:5432")
        .example("martlet ssh forward gate intranet:80 --port 8080", "Reach a server that gate can reach")
    }

    // MARK: Trust

    private var trust: Action {
        Action(
            "ssh.trust", "Accept the current keys of hosts", .writes, given,
            .option(
                "fingerprint", "Accept only the key with this fingerprint, as its owner tells it: SHA256:…",
                as: String?.self)
        ) { context, names, fingerprint in
            let fleet = try fleet(names, context)
            return try await TrustAction(fleet: fleet, fingerprint: fingerprint, context: context).perform()
        }
        .byName()
        .sending()
        .question(TrustAction.questionID, "Whether to trust the keys")
        .details(
            "Without --fingerprint it shows the keys and asks. They are added to the file of known hosts of your SSH settings, "
                + "where ssh finds them too. A key that has changed, or that a line revokes, is refused: the message names the line. "
                + "A host gets the beginning of a connection, and nothing about you."
        )
        .example("martlet ssh trust web1", "Show the key of a host and ask")
    }
}
