import Capabilities
import JSON
import Registry
import Screens
import TraceStore

/// The screen of one request, with the command of curl that repeats it.
struct RequestScreen {
    let store: TraceStore
    /// The spans of this process that are not written yet.
    let spool: SpanSpool

    func add(to registry: inout RegistryBuilder) {
        registry.add(
            Screen(
                "trace.request", "Request", .detail, .argument("id", "Id of the trace, or its beginning"),
                .argument("span", "Id of the span of the request, or its beginning")
            ) { [store, spool] screen, id, word in
                spool.flush()
                let stored = try await store.span(
                    beginning: word, of: try await store.trace(beginning: id))
                let request = SeenRequest(stored.span, of: stored.resource["service.name"]?.string ?? "")
                var blocks = [Block(.values(Values(RequestRow(request))), id: "request")]
                if !request.isStream {
                    let code = Code(try CurlCommand(of: stored.span).text, language: "sh")
                    blocks.append(Block(.code(code), id: "curl", title: "curl"))
                }
                try await screen.show(.stack(blocks, id: "both"))
            })
    }
}
