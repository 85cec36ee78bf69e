import AuthTrust
import StorageKit

/// The tables of Auth. None of them holds a secret.
enum AuthDatabase {
    static let migrations = PinStore.migrations + Preferences.migrations
}
