//! Element types: the vendor's numbers, and the three types that the operator computes in.

/// The vendor's `aclDataType` members: name and number.
///
/// A number from C is looked up here before anything else looks at it; an unknown one is an error, never undefined
/// behaviour.
pub const DATA_TYPES: &[(i32, &str)] = &[
    (-1, "ACL_DT_UNDEFINED"),
    (0, "ACL_FLOAT"),
    (1, "ACL_FLOAT16"),
    (2, "ACL_INT8"),
    (3, "ACL_INT32"),
    (4, "ACL_UINT8"),
    (6, "ACL_INT16"),
    (7, "ACL_UINT16"),
    (8, "ACL_UINT32"),
    (9, "ACL_INT64"),
    (10, "ACL_UINT64"),
    (11, "ACL_DOUBLE"),
    (12, "ACL_BOOL"),
    (13, "ACL_STRING"),
    (16, "ACL_COMPLEX64"),
    (17, "ACL_COMPLEX128"),
    (27, "ACL_BF16"),
    (29, "ACL_INT4"),
    (30, "ACL_UINT1"),
    (33, "ACL_COMPLEX32"),
    (34, "ACL_HIFLOAT8"),
    (35, "ACL_FLOAT8_E5M2"),
    (36, "ACL_FLOAT8_E4M3FN"),
    (37, "ACL_FLOAT8_E8M0"),
    (38, "ACL_FLOAT6_E3M2"),
    (39, "ACL_FLOAT6_E2M3"),
    (40, "ACL_FLOAT4_E2M1"),
    (41, "ACL_FLOAT4_E1M2"),
];

/// The vendor's `aclFormat` members: name and number.
pub const FORMATS: &[(i32, &str)] = &[
    (-1, "ACL_FORMAT_UNDEFINED"),
    (0, "ACL_FORMAT_NCHW"),
    (1, "ACL_FORMAT_NHWC"),
    (2, "ACL_FORMAT_ND"),
    (3, "ACL_FORMAT_NC1HWC0"),
    (4, "ACL_FORMAT_FRACTAL_Z"),
    (12, "ACL_FORMAT_NC1HWC0_C04"),
    (16, "ACL_FORMAT_HWCN"),
    (27, "ACL_FORMAT_NDHWC"),
    (29, "ACL_FORMAT_FRACTAL_NZ"),
    (30, "ACL_FORMAT_NCDHW"),
    (32, "ACL_FORMAT_NDC1HWC0"),
    (33, "ACL_FRACTAL_Z_3D"),
    (35, "ACL_FORMAT_NC"),
    (47, "ACL_FORMAT_NCL"),
    (50, "ACL_FORMAT_FRACTAL_NZ_C0_16"),
    (51, "ACL_FORMAT_FRACTAL_NZ_C0_32"),
    (52, "ACL_FORMAT_FRACTAL_NZ_C0_2"),
    (53, "ACL_FORMAT_FRACTAL_NZ_C0_4"),
    (54, "ACL_FORMAT_FRACTAL_NZ_C0_8"),
];

/// `ACL_FORMAT_ND`, the only format that the operator takes.
pub const FORMAT_ND: i32 = 2;

/// The vendor's name of a data type, for messages; `None` for a number that no member has.
pub fn data_type_name(number: i32) -> Option<&'static str> {
    name_in(DATA_TYPES, number)
}

/// The vendor's name of a format, for messages; `None` for a number that no member has.
pub fn format_name(number: i32) -> Option<&'static str> {
    name_in(FORMATS, number)
}

fn name_in(members: &[(i32, &'static str)], number: i32) -> Option<&'static str> {
    members.iter().find(|(value, _)| *value == number).map(|(_, name)| *name)
}

/// Size of one element in bytes as `aclDataTypeSize` reports it: 0 for types without a fixed size and for unknown
/// numbers; 1 for the sub-byte integers, 8 for the fp6 and fp4 types (what the vendor returns).
pub fn size_of(number: i32) -> usize {
    match number {
        2 | 4 | 12 | 29 | 30 | 34 | 35 | 36 | 37 => 1,
        1 | 6 | 7 | 27 => 2,
        0 | 3 | 8 | 33 => 4,
        9 | 10 | 11 | 16 | 38 | 39 | 40 | 41 => 8,
        17 => 16,
        _ => 0,
    }
}

/// The element types that the operator computes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatType {
    /// IEEE binary32, `ACL_FLOAT`.
    F32,
    /// IEEE binary16, `ACL_FLOAT16`.
    F16,
    /// bfloat16, `ACL_BF16`.
    Bf16,
}

impl FloatType {
    /// Bytes per element.
    pub const fn size(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
        }
    }

    /// The vendor's number of this type.
    pub const fn number(self) -> i32 {
        match self {
            Self::F32 => 0,
            Self::F16 => 1,
            Self::Bf16 => 27,
        }
    }
}

impl TryFrom<i32> for FloatType {
    type Error = i32;

    fn try_from(number: i32) -> Result<Self, i32> {
        match number {
            0 => Ok(Self::F32),
            1 => Ok(Self::F16),
            27 => Ok(Self::Bf16),
            other => Err(other),
        }
    }
}
