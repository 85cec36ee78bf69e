import Capabilities
import HTTPClient
import HTTPCore
import HTTPServer
import Testing

@Test("The README's example works with our client", .timeLimit(.minutes(5)))
func readmeExample() async throws {
    let routes = try Routes([
        Route(.get, "/hello/{name}", "hello", "A greeting", .path("name", "Whom to greet")) { _, name in
            "Hello, \(name)"
        },
        Route(.get, "/count", "count", "Numbers as events", .query("to", "The last", default: 3)) { _, last in
            .events { events in
                for number in 1...last { try await events.send(data: "\(number)") }
            }
        },
    ])
    let (addresses, told) = AsyncStream.makeStream(of: BoundAddress.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await HTTPServer(routes).run { addresses in told.yield(addresses[0]) } }
        var iterator = addresses.makeAsyncIterator()
        let server = try #require(await iterator.next())

        let client = HTTPClient(.standalone)
        let greeting = try await client.send(HTTPRequest(.get, HTTPURL("\(server)/hello/Ada"))).requireSuccess()
        #expect(greeting.text == #""Hello, Ada""#)
        let answer = try await client.open(HTTPRequest(.get, HTTPURL("\(server)/count?to=5"))).requireSuccess()
        var numbers: [String] = []
        for try await event in answer.events() { numbers.append(event.text) }
        #expect(numbers == ["1", "2", "3", "4", "5"])
        await client.close()
        group.cancelAll()
    }
}
