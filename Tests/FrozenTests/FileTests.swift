import Capabilities
import CoreTesting
import FileKit
import JSON
import Registry
import Settings
import Testing
import WorkspaceSupport

@testable import Gateway
@testable import HostKit

@Suite("What is kept on the machine", .timeLimit(.minutes(10)))
struct FileTests {
    @Test("every database has the tables of the list")
    func databases() async throws {
        let lines = try await Product.withSession { session, home -> [String] in
            let output = RecordingOutput()
            // That makes every database.
            _ = try await session.perform("data.compact", as: Product.person, output: output)
            let stores = try await session.perform("data.list", as: Product.person, output: output).json.array ?? []
            var lines: [String] = []
            for store in stores {
                guard let file = store["location"]?.string, Files.exists(file), file.hasSuffix(".db") else { continue }
                let name = file.split(separator: "/").last ?? ""
                let tables = try await Shell(in: home).run("sqlite3", "-batch", file, Self.tables)
                lines += tables.split(separator: "\n").map { "\(name) \($0)" }
            }
            return lines
        }
        try FrozenList("databases").expect(lines)
    }

    private static let tables = #"""
        SELECT 'user version ' || user_version FROM pragma_user_version;
        SELECT 'application ' || application_id FROM pragma_application_id;
        SELECT 'migration ' || version || ', ' || name || ': ' || checksum FROM storage_migrations;
        SELECT 'table ' || name || iif(wr, ', without rowid', '') || iif(strict, ', strict', '')
            FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\';
        SELECT 'column ' || t.name || '.' || c.name || ': ' || c.type || iif(c."notnull", ', not null', '')
            || iif(c.pk, ', primary key ' || c.pk, '') || coalesce(', default ' || c.dflt_value, '')
            FROM pragma_table_list AS t JOIN pragma_table_xinfo(t.name) AS c
            WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\';
        SELECT 'reference ' || t.name || '.' || f."from" || ' to ' || f."table" || coalesce('.' || f."to", '')
            || ', on delete ' || lower(f.on_delete)
            FROM pragma_table_list AS t JOIN pragma_foreign_key_list(t.name) AS f WHERE t.schema = 'main';
        SELECT 'index ' || i.name || ' of ' || t.name || iif(i."unique", ', unique', '') || ': '
            || (SELECT group_concat(name) FROM (SELECT name FROM pragma_index_info(i.name) ORDER BY seqno))
            FROM pragma_table_list AS t JOIN pragma_index_list(t.name) AS i
            WHERE t.schema = 'main' AND t.type = 'table';
        SELECT type || ' ' || name || ': ' || replace(sql, char(10), ' ') FROM sqlite_schema
            WHERE type IN ('trigger', 'view') OR sql LIKE 'CREATE VIRTUAL TABLE %' OR sql LIKE 'CREATE INDEX % WHERE %';
        """#

    @Test("files lie in the folders of the list, and variables have its names")
    func places() throws {
        var lines = Self.environments.flatMap { Self.folders($0.environment, named: $0.name) }
        let project = Locations(current: "/work", config: "", data: "", state: "", cache: "").projectFile
        lines.append("settings of the project in /work: \(project)")
        lines += Product.workbench().registry.all((any DataStore).self).map { "store \($0.id): \($0.location)" }
        for source in try SourceText.product() {
            lines += source.variables.map { "variable \($0)" } + source.fileNames.map { "file \($0)" }
        }
        try FrozenList("places").expect(lines)
    }

    private static let environments: [(name: String, environment: [String: String])] = [
        ("HOME", ["HOME": "/home/ada"]),
        (
            "XDG",
            [
                "HOME": "/home/ada", "XDG_CONFIG_HOME": "/xdg/config", "XDG_DATA_HOME": "/xdg/data",
                "XDG_STATE_HOME": "/xdg/state", "XDG_CACHE_HOME": "/xdg/cache", "XDG_RUNTIME_DIR": "/run/user/1000",
                "XDG_CONFIG_DIRS": "/etc/one:/etc/two",
            ]
        ),
        ("MARTLET_HOME", ["HOME": "/home/ada", "MARTLET_HOME": "/srv/martlet", "XDG_RUNTIME_DIR": "/run/user/1000"]),
        ("no variable", [:]),
    ]

    private static func folders(_ environment: [String: String], named name: String) -> [String] {
        let loader = SettingsLoader(environment: environment, catalogue: SettingsCatalogue(of: []))
        let locations = loader.locations
        let surroundings = Surroundings(
            environment: environment, locations: locations, clock: ContinuousClock(),
            now: { Timestamp(microseconds: 0) })
        // Without HOME it is the home that the system knows, which is another one on each machine.
        let (usual, config) = ("/.config/martlet", locations.config)
        let home = environment.isEmpty && config.hasSuffix(usual) ? String(config.dropLast(usual.count)) : "/home/ada"
        return [
            "config: \(config)", "data: \(locations.data)", "state: \(locations.state)", "cache: \(locations.cache)",
            "runtime: \(surroundings.runtimeFolder)", "settings: \(locations.userFile)",
            "settings of the machine: \(locations.systemFiles.joined(separator: ", "))",
        ].map { "with \(name), \($0.replacing(home, with: "~"))" }
    }
}

extension SourceText {
    /// The environment variables that the file names.
    fileprivate var variables: [String] {
        let ours = literals.flatMap { $0.matches(of: /MARTLET_[A-Z_]+/).map { String($0.output) } }
        let others = literals.filter { $0.wholeMatch(of: /[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+/) != nil }
        return ours + others + texts(/nvironment\??\["(\d+)"/)
    }

    /// The names of files in folders: "/vault.key", or "\(folder)/chat.db".
    fileprivate var fileNames: [String] {
        let inFolder = literals.filter { $0.hasPrefix("…/") }.map { String($0.dropFirst()) }
        return (inFolder + texts(/\+\s+"(\d+)"/)).filter { name in
            name.wholeMatch(of: /\/[A-Za-z.][A-Za-z0-9._\/\-]*/) != nil
        }
    }
}
