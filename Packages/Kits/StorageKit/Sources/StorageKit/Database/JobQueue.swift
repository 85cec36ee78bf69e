/// Jobs in the order of their coming, of which any one can be taken out. Each step takes the same time however many wait.
struct JobQueue {
    private var jobs: [ObjectIdentifier: (ticket: UInt64, job: Job)] = [:]
    /// With those that were taken out since: their tickets say so.
    private var order: [(key: ObjectIdentifier, ticket: UInt64)] = []
    /// How many at the front have gone. They are let go of now and then: each by itself would move all behind it.
    private var gone = 0
    private var lastTicket: UInt64 = 0

    var count: Int { jobs.count }

    mutating func append(_ job: Job) {
        lastTicket += 1
        let key = ObjectIdentifier(job.cancellation)
        jobs[key] = (lastTicket, job)
        order.append((key, lastTicket))
    }

    mutating func popFirst() -> Job? {
        defer { tidy() }
        while gone < order.count {
            let (key, ticket) = order[gone]
            gone += 1
            if jobs[key]?.ticket == ticket { return jobs.removeValue(forKey: key)?.job }
        }
        return nil
    }

    mutating func remove(_ cancellation: Cancellation) -> Job? {
        defer { tidy() }
        return jobs.removeValue(forKey: ObjectIdentifier(cancellation))?.job
    }

    private mutating func tidy() {
        guard order.count > 2 * jobs.count + 16 else { return }
        order = order[gone...].filter { jobs[$0.key]?.ticket == $0.ticket }
        gone = 0
    }
}
