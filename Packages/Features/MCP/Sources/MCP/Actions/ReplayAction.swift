import Capabilities
import FileKit
import Glibc
import LoopKit
import MCPKit
import MCPServers
import RPCKit
import Registry

/// Serves what a recording has.
struct ReplayAction {
    var all: [Action] { [replay] }

    private var replay: Action {
        Action(
            "mcp.replay", "Serve the answers of a recording until the input ends", .reads,
            .argument("file", "File that --record has written", as: ReadPath.self)
        ) { context, file in
            let bytes = try context.path(file).read(limit: TrafficRecording.largest)
            let recording = try TrafficRecording(bytes, name: file.shown)
            // Only the person who starts the program has its streams.
            guard context.caller.isPerson else {
                throw ServerError(.badEntry, "only a person's own command serves over its streams")
            }
            guard isatty(0) == 0 else {
                throw ServerError(
                    .badEntry,
                    "a terminal does not speak the protocol; 'martlet mcp add NAME -- martlet mcp replay \(file.shown)' makes it a server"
                )
            }
            // What the command prints as its result must not follow the last message.
            defer { DescriptorChannel.closeStandardOutput() }
            do {
                let channel = try DescriptorChannel(sharing: 0, and: 1, loop: EventLoop())
                try await TrafficReplay(recording).serve(over: StreamTransport(channel))
            } catch let failure as RPCFailure where failure.kind == .closed {
                // A host that no longer reads has gone, which is its way to end this.
            }
            return Nothing()
        }
        .byName()
        .details(
            "It is an MCP server over the standard input and output, which gives each request the answer that it has in the "
                + "recording, with the same signs of progress and questions, at once and the same each time. A request that the "
                + "recording does not have gets an error that says so; one that was never answered is not answered."
        )
        .example(
            "martlet mcp add broken -- martlet mcp replay traffic.jsonl", "Show a fault without the server that has it")
    }
}
