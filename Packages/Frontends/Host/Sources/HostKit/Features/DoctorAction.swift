import Capabilities
import FileKit
import JSON
import Registry
import Settings

extension HostFeature {
    static var doctorAction: Action {
        Action(
            "doctor", "Check that everything this build needs is there and healthy", .reads,
            .flag("strict", "Count warnings as failures"),
            .option("limit", "How long one check may take", default: Duration.seconds(5))
        ) { context, strict, limit in
            let checks = context.registry.checks
            let rows = await withTaskGroup(of: (Int, CheckRow).self) { group in
                for (index, check) in checks.enumerated() {
                    group.addTask { (index, CheckRow(check, await look(check, context.host, limit))) }
                }
                var rows: [(Int, CheckRow)] = []
                for await row in group {
                    rows.append(row)
                    context.progress("checking", completed: rows.count, of: checks.count)
                }
                return rows.sorted { $0.0 < $1.0 }.map(\.1)
            }
            return Diagnosis(rows: rows, isStrict: strict)
        }
        .always()
        .details(
            "Looks at the settings, the folders, the libraries and whatever each feature needs, and says how to mend "
                + "what is wrong. Ends with 0 when all is well or there are only warnings, with 1 when a check failed; "
                + "with --strict a warning is a failure."
        )
        .example("martlet doctor --strict", "In a script that must not go on with a warning")
    }
}

/// A check that does not answer in time has failed; it is cancelled and not waited for.
private func look(_ check: HealthCheck, _ host: Host, _ limit: Duration) async -> HealthCheck.Finding {
    let (answers, continuation) = AsyncStream<HealthCheck.Finding>.makeStream(bufferingPolicy: .bufferingOldest(1))
    // Owned here: it is cancelled below, and awaited by nobody because a check that hangs must not hang the doctor.
    let work = Task { continuation.yield(await check.look(host)) }
    let alarm = Task {
        try await host.clock.sleep(for: limit)
        continuation.yield(
            .failure(
                "no answer within \(limit.words)", mend: "give it more time with --limit, or see what it waits for"))
    }
    defer {
        work.cancel()
        alarm.cancel()
    }
    for await answer in answers { return answer }
    return .failure("the check was cancelled", mend: "run martlet doctor again")
}

private struct CheckRow: Record {
    let id: String
    let state: String
    let found: String
    let mend: String?

    init(_ check: HealthCheck, _ finding: HealthCheck.Finding) {
        id = check.id
        switch finding {
        case .ok(let found): (state, self.found, mend) = ("ok", found, nil)
        case .warning(let found, let mend): (state, self.found, self.mend) = ("warning", found, mend)
        case .failure(let found, let mend): (state, self.found, self.mend) = ("failed", found, mend)
        }
    }

    static let fields: [Field<CheckRow>] = [
        Field("id", "The check", .name) { $0.id },
        Field("state", "ok, warning or failed", .state) { $0.state },
        Field("found", "What was found") { $0.found },
        Field("mend", "What to do about it") { $0.mend },
    ]
}

/// The rows, and the exit code that they mean.
private struct Diagnosis: OutputValue {
    let rows: [CheckRow]
    let isStrict: Bool

    static var schema: Schema { [CheckRow].schema }
    var json: JSON { rows.json }
    var exit: ExitCode {
        rows.contains { $0.state == "failed" || isStrict && $0.state == "warning" } ? .failed : .done
    }
}

/// What `doctor` looks at whatever features there are.
enum HostChecks {
    static var all: [HealthCheck] {
        [settings, variables, project, composition, libraries, data] + folders
    }

    private static let settings = HealthCheck("host.settings", "the settings") { host in
        let problems = host.settings.problems
        guard problems.isEmpty else {
            return .failure(
                problems.map(\.description).joined(separator: "; "),
                mend: "martlet config edit, or mend the file by hand")
        }
        let files = ([host.locations.userFile] + [host.locations.project].compactMap { $0 }).filter(Files.exists)
        let found = files.isEmpty ? "no settings file; defaults are used" : files.joined(separator: ", ")
        return .ok(([found] + host.absences).joined(separator: "; "))
    }

    private static let variables = HealthCheck("host.variables", "environment variables") { host in
        let unknown = host.settings.unknownVariables.map { variable in
            let nearest = SettingsVariables.nearest(to: variable, host.catalogue)
            return variable + (nearest.map { " (did you mean \($0)?)" } ?? "")
        }
        guard !unknown.isEmpty else { return .ok("all known") }
        return .warning(
            "no setting is called \(unknown.joined(separator: ", "))",
            mend: "unset it, or see martlet config show --all")
    }

    private static let project = HealthCheck("host.project", "the project's settings") { host in
        let inert = host.settings.inert
        guard let file = host.locations.project else { return .ok("not in a project with settings") }
        guard !inert.isEmpty else { return .ok("\(file) is in use") }
        let keys = inert.map { $0.key.joined(separator: ".") }.joined(separator: ", ")
        return .warning(
            "\(file) is not trusted, so this is not used: \(keys)", mend: "read it, then martlet config trust")
    }

    private static let composition = HealthCheck("host.features", "how the features fit together") { host in
        let problems = host.composition.problems
        guard problems.isEmpty else {
            return .failure(problems.map(\.description).joined(separator: "; "), mend: "martlet features shows each")
        }
        return .ok("\(host.composition.features.count) on, \(host.composition.off.count) off")
    }

    private static let libraries = HealthCheck("host.libraries", "the libraries") { host in
        var found: [String] = []
        var problems: [String] = []
        // Several features may use one library.
        for library in host.composition.registry.libraries {
            do {
                let words = "\(library.name) \(try library.installed())"
                if !found.contains(words) { found.append(words) }
            } catch {
                let words = AnyFailure(error).message
                if !problems.contains(words) { problems.append(words) }
            }
        }
        guard problems.isEmpty else {
            return .failure(problems.joined(separator: "; "), mend: "install what is missing")
        }
        return .ok(found.isEmpty ? "none beyond the system's" : found.joined(separator: ", "))
    }

    private static let data = HealthCheck("host.data", "the data") { host in
        let stores = host.composition.registry.all((any DataStore).self)
        do {
            let setAside = try stores.flatMap { try $0.setAside() }
            guard setAside.isEmpty else {
                return .warning(
                    "damaged data was set aside, and an empty store took its place: \(setAside.joined(separator: ", "))",
                    mend: "restore a copy with 'martlet data restore', then move these files away")
            }
        } catch {
            return .failure(AnyFailure(error).message, mend: "give yourself the right to read there")
        }
        return .ok("\(stores.count) stores; 'martlet data check' looks into them")
    }

    private static let folders: [HealthCheck] = [
        folder("config") { $0.config }, folder("data") { $0.data }, folder("state") { $0.state },
        folder("cache") { $0.cache },
    ]

    private static func folder(
        _ name: String, _ path: @escaping @Sendable (Locations) -> String
    ) -> HealthCheck {
        HealthCheck("host.folder.\(name)", "the folder for \(name)") { host in
            let path = path(host.locations)
            guard !path.isEmpty else { return .failure("there is none", mend: "set HOME") }
            do {
                guard Files.exists(path) else { return try parentIsWritable(path) }
                let info = try Files.info(path)
                guard info.kind == .directory else {
                    return .failure(
                        "\(path) is no folder", mend: "move it away, or set another place with MARTLET_HOME")
                }
                guard Files.isWritable(path) else {
                    return .failure("\(path) cannot be written", mend: "give yourself the right to write there")
                }
                return .ok(path)
            } catch {
                return .failure(AnyFailure(error).message, mend: "mend its permissions, or set MARTLET_HOME")
            }
        }
    }

    /// A folder that is not there yet is made at first use, which the nearest one above must allow.
    private static func parentIsWritable(_ path: String) throws -> HealthCheck.Finding {
        var parent = path
        repeat {
            parent = parent.lastIndex(of: "/").map { String(parent[..<$0]) } ?? ""
        } while !parent.isEmpty && !Files.exists(parent)
        guard Files.isWritable(parent.isEmpty ? "/" : parent) else {
            return .warning("\(path) cannot be made", mend: "make \(parent) writable, or set MARTLET_HOME")
        }
        return .ok("\(path) (made when it is needed)")
    }
}
