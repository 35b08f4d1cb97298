//! Node addon over `hashline-core`: JavaScript values in, core requests, JavaScript values out.

#![cfg_attr(test, allow(dead_code, reason = "napi registers no function in a test build"))]

mod binding;
