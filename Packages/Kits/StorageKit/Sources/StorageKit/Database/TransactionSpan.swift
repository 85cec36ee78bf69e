import Capabilities

/// Records the transactions of a database within the span of the running work: each one that writes, and one that reads if
/// it fails or takes long, because programs read all the time.
struct TransactionSpans: Sendable {
    enum Kind: String {
        case read, write
    }

    /// A read that takes longer is recorded.
    static let slow = Duration.milliseconds(10)

    private let name: String
    private let isOn: Bool

    init(ofDatabase path: String, isOn: Bool) {
        name = String(path.split(separator: "/").last ?? "")
        self.isOn = isOn
    }

    nonisolated(nonsending) func recording<Result>(
        _ kind: Kind, _ work: nonisolated(nonsending) () async throws -> Result
    ) async throws -> Result {
        let span = begin(kind)
        do {
            let result = try await work()
            span?.end(nil)
            return result
        } catch {
            span?.end(error)
            throw error
        }
    }

    func recordingNow<Result>(_ kind: Kind, _ work: () throws -> Result) throws -> Result {
        let span = begin(kind)
        do {
            let result = try work()
            span?.end(nil)
            return result
        } catch {
            span?.end(error)
            throw error
        }
    }

    private func begin(_ kind: Kind) -> Running? {
        guard isOn else { return nil }
        let tracer = Tracer.current
        guard let record = tracer.begin("\(kind.rawValue) \(name)", .client, of: "storage") else { return nil }
        record.set(.databaseSystem, "sqlite")
        record.set(.databaseName, .string(name))
        return Running(tracer: tracer, record: record, kind: kind)
    }

    private struct Running {
        let tracer: Tracer
        let record: SpanRecord
        let kind: Kind

        func end(_ error: (any Error)?) {
            // What the caller throws, or a cancellation, is not a failure of the database.
            let code = (error as? StorageError)?.code
            switch kind {
            case .write: tracer.end(record, failure: code)
            case .read: tracer.end(record, failure: code, ifLongerThan: TransactionSpans.slow)
            }
        }
    }
}
