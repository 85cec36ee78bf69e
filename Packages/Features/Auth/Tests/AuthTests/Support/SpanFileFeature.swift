import Capabilities
import FileKit
import JSON
import Registry
import Settings
import Synchronization

/// Writes every span to a file, as a feature for traces does.
struct SpanFileFeature: Feature {
    static let manifest = Manifest(
        id: "span-file", summary: "A file of spans for tests", version: "1.0",
        provides: [.shared((any SpanSink).self)])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        let place = registry.surroundings
        registry.provide(
            (any SpanSink).self, FileSpans(path: "\(place.locations.state)/spans", without: place.redactor))
    }
}

private final class FileSpans: SpanSink {
    private let path: String
    private let redactor: Redactor
    private let turn = Mutex(())

    init(path: String, without redactor: Redactor) {
        self.path = path
        self.redactor = redactor
    }

    func record(_ span: SpanRecord) {
        let span = span.copy(without: redactor)
        let line = "\(span.name) \(JSON.object(span.attributes).text()) \(span.failure ?? "")\n"
        turn.withLock { _ in
            do {
                try Files.makeDirectories(String(path.dropLast("/spans".count)))
                let before = Files.exists(path) ? try Files.read(path, limit: 1 << 24) : []
                try Files.writeAtomically(before + Array(line.utf8), to: path)
            } catch {
                preconditionFailure("a test cannot write its spans: \(error)")
            }
        }
    }
}
