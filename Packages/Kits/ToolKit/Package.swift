// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "ToolKit",
    products: [.library(name: "ToolKit", targets: ["ToolKit"])],
    dependencies: [
        .package(path: "../../Core"), .package(path: "../FileKit"), .package(path: "../LoopKit"),
        .package(path: "../ProcessKit"), .package(path: "../SandboxKit"),
    ],
    targets: [
        .systemLibrary(name: "CPCRE2", pkgConfig: "libpcre2-8", providers: [.apt(["libpcre2-dev"])]),
        .target(name: "CToolKit"),
        .target(
            name: "ToolKit",
            dependencies: [
                "CPCRE2", "CToolKit", .product(name: "Core", package: "Core"),
                .product(name: "FileKit", package: "FileKit"), .product(name: "LoopKit", package: "LoopKit"),
                .product(name: "ProcessKit", package: "ProcessKit"),
                .product(name: "SandboxKit", package: "SandboxKit"),
            ]),
        .testTarget(
            name: "ToolKitTests",
            dependencies: [
                "ToolKit", .product(name: "Core", package: "Core"), .product(name: "CoreTesting", package: "Core"),
                .product(name: "FileKit", package: "FileKit"), .product(name: "LoopKit", package: "LoopKit"),
                .product(name: "ProcessKit", package: "ProcessKit"),
                .product(name: "SandboxKit", package: "SandboxKit"),
            ]),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
