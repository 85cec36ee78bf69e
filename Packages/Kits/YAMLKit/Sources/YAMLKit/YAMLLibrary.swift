import CYAML

/// libyaml itself.
enum YAMLLibrary {
    static var version: String { unsafe String(cString: yaml_get_version_string()) }
}
