import CoreTesting
import StorageKit
import Testing

@Suite("Memory use", .timeLimit(.minutes(5)))
struct MemoryTests {
    @Test("A million rows are read one by one, and written in one transaction")
    func million() async {
        // A separate process, whose memory no other test uses.
        await #expect(processExitsWith: .success) {
            try await TemporaryDirectory.run { folder in
                let database = Database("\(folder)/a.db", migrations: notes, durability: .normal)
                let rows: SQL = """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
                    INSERT INTO notes (text) SELECT 'this is note number ' || i FROM n
                    """
                try await database.write { try $0.run(rows) }
                _ = try await database.read { try $0.count }
                let before = try TestProcess.residentBytes()
                let (count, bytes) = try await database.read { connection in
                    var (count, bytes) = (0, 0)
                    try connection.forEach("SELECT id, text FROM notes") { row in
                        let (id, text): (Int, String) = (try row[0], try row[1])
                        count += id > 0 ? 1 : 0
                        bytes += text.utf8.count
                    }
                    return (count, bytes)
                }
                let grown = try TestProcess.residentBytes() - before
                #expect(count == 1_000_000 && bytes > 20_000_000)
                #expect(grown < 8 << 20, "\(grown) bytes more")
                await database.close()
            }
        }
    }
}
