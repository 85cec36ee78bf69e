import Capabilities
import JSON
import Registry

/// Changes the person's settings for features, as `config set` does for the person.
final class UserSettingsWriter: SettingsWriter {
    private let locations: Locations

    init(locations: Locations) {
        self.locations = locations
    }

    func edit(_ changes: @Sendable (_ own: JSON) -> [(key: [String], value: JSON?)]) async throws -> String {
        let file = try SettingsFile(locations, isProject: false)
        try await file.edit { document throws(JSONError) in
            var (document, text) = (document, "")
            for (key, value) in changes(document.value) {
                if let value { text = try document.setting(key, to: value) } else { text = document.removing(key) }
                document = try JSONDocument(parsing: Array(text.utf8), name: file.path)
            }
            return text
        }
        return file.path
    }
}
