import Capabilities

extension ChatError {
    /// The same error with the names that are most like the one that was not found, if the list can be had.
    func naming(nearest model: String, in provider: any ModelProvider) async -> ChatError {
        let known: [String]
        do {
            known = try await provider.models().map(\.id)
        } catch {
            // Why the list cannot be had is another matter.
            return self
        }
        let names = Self.nearest(to: model, among: known)
        guard !names.isEmpty else { return self }
        var error = self
        let list = names.map { "'\(PlainText.escape($0))'" }.joined(separator: ", ")
        error.remedy = "did you mean \(list)? 'martlet chat models' lists what there is"
        return error
    }

    /// At most three names: the one with the fewest slips, then those that share a long beginning or contain the word.
    static func nearest(to word: String, among names: [String]) -> [String] {
        var found = Suggestion.nearest(to: word, among: names).map { [$0] } ?? []
        let wanted = word.lowercased()
        guard wanted.count >= 3 else { return found }
        let alike = names.compactMap { name -> (name: String, score: Int)? in
            let other = name.lowercased()
            if other.contains(wanted) { return (name, 1000 - name.count) }
            let shared = zip(other, wanted).prefix { $0 == $1 }.count
            return shared >= max(4, wanted.count / 2) ? (name, shared) : nil
        }
        for (name, _) in alike.sorted(by: { $0.score > $1.score }) where found.count < 3 && !found.contains(name) {
            found.append(name)
        }
        return found
    }
}
