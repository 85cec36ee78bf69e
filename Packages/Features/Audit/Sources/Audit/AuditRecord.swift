import Capabilities
import Cryptography
import JSON

/// A row of the log as it is stored, with everything that its digest covers.
struct AuditRecord: Sendable, Hashable {
    var number = 0
    var time = Timestamp(microseconds: 0)
    /// The entry of which it says how that ended; nil for an entry.
    var completes: Int?
    /// The log from which it was taken over, and its number there.
    var origin: String?
    var originNumber: Int?
    var project: String?
    var session: String?
    var conversation: String?
    var actor = ""
    var action = ""
    var source: String?
    var subject: String?
    var decision: String?
    var rule: String?
    var outcome: String?
    /// JSON text of the details that always stay.
    var detail = "null"
    /// What people or models wrote. The digest of the row covers only its digest, so that it can be removed.
    var content: Content?

    struct Content: Sendable, Hashable {
        /// Of the salt and the text. Without the salt, a short text could be guessed from it.
        var digest: [UInt8]
        /// Nil once the content was removed.
        var salt: [UInt8]?
        /// JSON text of an object; nil once the content was removed.
        var text: String?

        init(digest: [UInt8], salt: [UInt8]?, text: String?) {
            self.digest = digest
            self.salt = salt
            self.text = text
        }

        /// Content to be stored.
        init(_ text: String) throws(CryptographyError) {
            let salt = try Random.bytes(16)
            self.init(digest: Digest.sha256(salt + Array(text.utf8)), salt: salt, text: text)
        }

        /// Whether nothing of it was removed or changed.
        var isWhole: Bool {
            guard let salt, let text else { return false }
            return Digest.sha256(salt + Array(text.utf8)) == digest
        }
        var isErased: Bool { salt == nil && text == nil }
    }
}

// MARK: From an entry and back

extension AuditRecord {
    /// Limits the details, or a log of written files would soon be larger than the files.
    static let largestDetail = 16 << 10
    /// Limits what remains when the content is removed.
    private static let largestFacts = 4 << 10
    private static let longestName = 1 << 10

    /// - Parameter redactor: removes secrets from every text.
    init(_ entry: AuditEntry, at time: Timestamp, without redactor: Redactor) throws {
        func kept(_ text: String?) -> String? { text.map { Self.shortened(redactor.kept($0), to: Self.longestName) } }
        self.time = time
        (project, session, conversation) = (kept(entry.project), kept(entry.session), kept(entry.conversation))
        (actor, action) = (kept(entry.actor) ?? "", kept(entry.action) ?? "")
        (source, subject, decision) = (kept(entry.source), kept(entry.subject), kept(entry.decision))
        (rule, outcome) = (kept(entry.rule), kept(entry.outcome))
        let detail = redactor.kept(entry.detail)
        guard let members = detail.object else {
            // Without members, nothing tells whether it is content.
            self.detail = detail.text().utf8.count > Self.largestFacts ? "null" : detail.text()
            if self.detail == "null", detail != .null { content = try Content(Self.beginning(of: detail.text())) }
            return
        }
        var (facts, written) = (JSONObject(), JSONObject())
        for (name, value) in members {
            if AuditEntry.contentMembers.contains(name) { written[name] = value } else { facts[name] = value }
        }
        let whole = detail.text()
        let factsText = JSON.object(facts).text()
        self.detail = factsText.utf8.count > Self.largestFacts ? "{}" : factsText
        if whole.utf8.count > Self.largestDetail {
            content = try Content(Self.beginning(of: whole))
        } else if factsText.utf8.count > Self.largestFacts {
            content = try Content(whole)
        } else if !written.isEmpty {
            content = try Content(JSON.object(written).text())
        }
    }

    /// - Parameter number: of the entry that has ended.
    init(_ completion: AuditCompletion, of number: Int, at time: Timestamp, without redactor: Redactor) {
        self.time = time
        completes = number
        outcome = Self.shortened(redactor.kept(completion.outcome), to: Self.longestName)
        let text = redactor.kept(JSON.object(completion.detail)).text()
        detail = text.utf8.count > Self.largestFacts ? "{}" : text
    }

    /// - Parameter added: the details of how it ended.
    func entry(adding added: String?) throws -> AuditEntry {
        var detail = try JSON(parsing: self.detail)
        for text in [content?.text, added] {
            guard let text, let members = try JSON(parsing: text).object else { continue }
            var object = detail.object ?? [:]
            for (name, value) in members { object[name] = value }
            if !object.isEmpty { detail = .object(object) }
        }
        var entry = AuditEntry(
            project: project, session: session, conversation: conversation, actor: actor, action: action,
            source: source, subject: subject, decision: decision, rule: rule, outcome: outcome, detail: detail)
        (entry.number, entry.time, entry.origin) = (number, time, origin)
        return entry
    }

    private static func beginning(of text: String) -> String {
        let object: JSONObject = [
            "beginning": .string(shortened(text, to: largestDetail)), "bytes": .int(text.utf8.count),
        ]
        return JSON.object(object).text()
    }

    private static func shortened(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        // Slicing rounds an index inside a character down to its start.
        return String(text[..<text.utf8.index(text.startIndex, offsetBy: limit)])
    }
}
