// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "SandboxKit",
    products: [.library(name: "SandboxKit", targets: ["SandboxKit"])],
    dependencies: [.package(path: "../../Core"), .package(path: "../FileKit"), .package(path: "../ProcessKit")],
    targets: [
        .systemLibrary(name: "CSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]),
        .target(name: "CSandboxKit", dependencies: ["CSeccomp"]),
        .target(
            name: "SandboxKit",
            dependencies: [
                "CSandboxKit", .product(name: "Core", package: "Core"), .product(name: "FileKit", package: "FileKit"),
                .product(name: "ProcessKit", package: "ProcessKit"),
            ]),
        .testTarget(
            name: "SandboxKitTests",
            dependencies: [
                "SandboxKit", .product(name: "Core", package: "Core"), .product(name: "CoreTesting", package: "Core"),
                .product(name: "FileKit", package: "FileKit"), .product(name: "ProcessKit", package: "ProcessKit"),
            ]),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
