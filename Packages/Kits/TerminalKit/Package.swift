// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "TerminalKit",
    products: [
        .library(name: "TerminalKit", targets: ["TerminalKit", "TerminalForms"]),
        .library(name: "TerminalTesting", targets: ["TerminalTesting"]),
    ],
    dependencies: [.package(path: "../../Core"), .package(path: "../FileKit"), .package(path: "../LoopKit")],
    targets: [
        // Not through pkg-config: its one flag, -DUTF8PROC_EXPORTS, is for Windows and makes every build warn.
        .systemLibrary(name: "CUTF8Proc", providers: [.apt(["libutf8proc-dev"])]),
        // Only the headers: the library is opened when the first Markdown is drawn.
        .systemLibrary(
            name: "CCMarkGFM", providers: [.apt(["libcmark-gfm-dev", "libcmark-gfm-extensions-dev"])]),
        .target(name: "CTerminalKit"),
        .target(
            name: "TerminalKit",
            dependencies: [
                "CUTF8Proc", "CCMarkGFM", "CTerminalKit", .product(name: "Core", package: "Core"),
                .product(name: "LoopKit", package: "LoopKit"),
            ]),
        // Values and blocks as styled text, for every frontend on a terminal.
        .target(
            name: "TerminalForms",
            dependencies: [
                "TerminalKit", .product(name: "Core", package: "Core"), .product(name: "FileKit", package: "FileKit"),
            ]),
        // Real terminals and emulators, for tests of programs that draw on one.
        .target(
            name: "TerminalTesting", dependencies: ["TerminalKit", .product(name: "LoopKit", package: "LoopKit")]),
        .testTarget(
            name: "TerminalKitTests",
            dependencies: [
                "TerminalKit", "TerminalTesting", .product(name: "Core", package: "Core"),
                .product(name: "CoreTesting", package: "Core"),
                .product(name: "LoopKit", package: "LoopKit"),
            ]),
    ]
)

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
