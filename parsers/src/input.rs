//! Where the bytes come from: files, compressed files, streams; cut into chunks of whole lines.
