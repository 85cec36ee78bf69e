import Capabilities
import Cryptography

/// Compares the rows of a log, oldest first, with what was written.
struct AuditCheck {
    private let end: AuditEnd
    private let chain: AuditChain
    private let key: SecretBytes?
    private var result = AuditVerdict()
    /// The number and the digest of the last row.
    private var last: (number: Int, digest: [UInt8])
    private var lastSealed: (number: Int, digest: [UInt8])?
    /// The first row since the last seal.
    private var openSince: Int?
    /// Rows without content of which no row has said yet that it was removed.
    private var missing: [AuditPlace: [Int]] = [:]
    private var missingElsewhere: [Int] = []

    /// Beyond that, more findings tell nothing new.
    static let mostProblems = 20

    /// - Parameter key: nil if the vault is closed; seals are not checked then.
    init(_ end: AuditEnd, key: SecretBytes?) {
        self.end = end
        self.key = key
        chain = AuditChain(log: end.log)
        last = (0, chain.start)
        result.isKeyKnown = key != nil
    }

    mutating func take(_ record: AuditRecord, digest: [UInt8], seal: [UInt8]?) throws {
        let number = record.number
        result.entries += 1
        let follows = number == last.number + 1
        if follows {
            if chain.digest(of: record, after: last.digest) != digest {
                add(.changed, number, "entry \(number) is not what was written: it was changed, exchanged or inserted")
            }
        } else if number <= last.number {
            add(.changed, number, "entry \(number) was inserted: no entry was written with that number")
        } else {
            let first = last.number + 1
            let missing = first == number - 1 ? "entry \(first) is" : "entries \(first) to \(number - 1) are"
            add(.removed, first, "\(missing) missing")
        }
        if let content = record.content { check(content, of: record) }
        if record.action == erasing, record.completes == nil { forgive(record) }
        try check(seal, of: number, digest)
        last = (number, digest)
    }

    mutating func verdict() throws -> AuditVerdict {
        if let openSince { result.unsealed.append(openSince...last.number) }
        result.newest = last.number
        result.digest = Hexadecimal.encode(last.digest)
        result.sealedThrough = lastSealed?.number ?? 0
        let newest = max(end.number, end.sealed ?? 0)
        if newest > last.number {
            add(
                .cut, last.number + 1,
                "the log ends with entry \(last.number), but entry \(newest) was written: its end is missing")
        } else if end.number != last.number || end.digest != last.digest {
            add(
                .changed, last.number,
                "entry \(last.number) is not the one with which the log ended: entries were added or changed")
        }
        try checkEnd()
        for number in (missing.values.flatMap(\.self) + missingElsewhere).sorted() {
            add(.erased, number, "the content of entry \(number) is missing, and no entry says that it was removed")
        }
        result.erased -= missing.values.reduce(0) { $0 + $1.count } + missingElsewhere.count
        return result
    }

    /// The seal of the end names the newest row with a seal.
    private mutating func checkEnd() throws {
        switch (end.sealed, end.seal, lastSealed) {
        case (nil, nil, nil):
            guard key != nil, last.number > 0 else { return }
            add(
                .seal, 1,
                "no entry has a seal, although there is a key: the seals were removed, unless the key is newer than the "
                    + "log; 'martlet audit seal' seals it then")
        case (let number?, let seal?, let last?) where number == last.number:
            guard let key else { return }
            let expected = try chain.endSeal(number, last.digest, key)
            guard !ConstantTime.equal(seal.span, expected.span) else { return }
            add(.seal, number, "the end of the log was not sealed with the key in the vault")
        case (let number?, _, let found) where number > (found?.number ?? 0) && number > last.number:
            // It was already reported that the end is missing.
            break
        default:
            let newest = lastSealed?.number ?? end.sealed ?? 0
            add(
                .seal, newest,
                "the end of the log does not name entry \(newest) as the newest with a seal: one of them was changed")
        }
    }

    private mutating func check(_ seal: [UInt8]?, of number: Int, _ digest: [UInt8]) throws {
        guard let seal else {
            if openSince == nil { openSince = number }
            return
        }
        if let first = openSince {
            result.unsealed.append(first...(number - 1))
            openSince = nil
        }
        lastSealed = (number, digest)
        guard let key else { return }
        let expected = try chain.seal(number, digest, key)
        if !ConstantTime.equal(seal.span, expected.span) {
            add(.seal, number, "entry \(number) was not sealed with the key in the vault")
        }
    }

    private mutating func check(_ content: AuditRecord.Content, of record: AuditRecord) {
        if content.isErased {
            result.erased += 1
            let places = [record.session.map(AuditPlace.session), record.conversation.map(AuditPlace.conversation)]
            guard let place = places.compactMap(\.self).first else { return missingElsewhere.append(record.number) }
            missing[place, default: []].append(record.number)
        } else if !content.isWhole {
            add(.changed, record.number, "the content of entry \(record.number) is not what was written")
        }
    }

    /// What was missing before this row was removed by the log itself.
    private mutating func forgive(_ record: AuditRecord) {
        if let session = record.session { missing[.session(session)] = nil }
        if let conversation = record.conversation { missing[.conversation(conversation)] = nil }
    }

    private mutating func add(_ kind: AuditProblem.Kind, _ number: Int, _ message: String) {
        guard result.problems.count < Self.mostProblems else { return }
        result.problems.append(AuditProblem(kind, at: number, message))
    }
}
