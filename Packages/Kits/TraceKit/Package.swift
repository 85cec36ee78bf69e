// swift-tools-version: 6.2
import PackageDescription

let core: Target.Dependency = .product(name: "Core", package: "Core")

let package = Package(
    name: "TraceKit",
    products: [.library(name: "TraceKit", targets: ["TraceKit"])],
    dependencies: [.package(path: "../../Core"), .package(path: "../Cryptography"), .package(path: "../HTTPKit")],
    targets: [
        .target(name: "TraceKit", dependencies: [core]),
        .testTarget(
            name: "TraceKitTests",
            dependencies: [
                "TraceKit", core, .product(name: "CoreTesting", package: "Core"),
                .product(name: "Cryptography", package: "Cryptography"),
                .product(name: "HTTPTesting", package: "HTTPKit"),
            ]),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
