/// The files that say how a project is built, the ones that decide first.
struct ProjectFile {
    let name: String
    let what: String
    /// How its tests are run; nil where the file's content has to tell.
    let test: String?

    static let all = [
        ProjectFile(name: "Makefile", what: "make", test: nil),
        ProjectFile(name: "Package.swift", what: "Swift package", test: "swift test"),
        ProjectFile(name: "package.json", what: "npm", test: nil),
        ProjectFile(name: "Cargo.toml", what: "Cargo", test: "cargo test"),
        ProjectFile(name: "go.mod", what: "Go module", test: "go test ./..."),
        ProjectFile(name: "pyproject.toml", what: "Python project", test: "python3 -m pytest"),
        ProjectFile(name: "setup.cfg", what: "Python project", test: "python3 -m pytest"),
        ProjectFile(name: "pytest.ini", what: "pytest", test: "python3 -m pytest"),
    ]
}
