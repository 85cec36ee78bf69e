// Optimised by swiftc 6.3.1, a child task that returns a tuple with a Result from do and catch loses the first member.
// A struct in the tuple's place keeps it. Each line that is printed has to end in [0, 1, 2, 3].

protocol Source: Sendable {
    func list() async throws -> [String]
}

final class Slow: Source {
    private let milliseconds: Int

    init(milliseconds: Int) {
        self.milliseconds = milliseconds
    }

    func list() async throws -> [String] {
        try await Task.sleep(for: .milliseconds(milliseconds))
        return ["\(milliseconds)"]
    }
}

struct Listing {
    let index: Int
    let result: Result<[String], any Error>
}

@inline(never)
func tuples(_ sources: [any Source]) async -> [Int] {
    await withTaskGroup(of: (Int, Result<[String], any Error>).self) { group in
        for (index, source) in sources.enumerated() {
            group.addTask {
                do { return (index, .success(try await source.list())) } catch { return (index, .failure(error)) }
            }
        }
        return await group.reduce(into: []) { $0.append($1.0) }
    }
}

@inline(never)
func structs(_ sources: [any Source]) async -> [Int] {
    await withTaskGroup(of: Listing.self) { group in
        for (index, source) in sources.enumerated() {
            group.addTask {
                do { return Listing(index: index, result: .success(try await source.list())) } catch {
                    return Listing(index: index, result: .failure(error))
                }
            }
        }
        return await group.reduce(into: []) { $0.append($1.index) }
    }
}

@main
struct Program {
    static func main() async {
        let sources = (0..<4).map { Slow(milliseconds: $0) }
        print("tuples", await tuples(sources).sorted())
        print("structs", await structs(sources).sorted())
    }
}
