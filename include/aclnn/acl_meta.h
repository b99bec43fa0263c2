/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Tensors, scalars, arrays, lists and executors: what an operator call is made of.
 *
 * Generated from src/api (tensor.rs, scalar.rs, list.rs, executor.rs, dump.rs):
 * edit the comments there, then run `make headers`.
 */

#ifndef ACLNN_ACL_META_H
#define ACLNN_ACL_META_H

#include "../aclnn_modulate/meta_types.h"

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Describes a view of storage that the caller owns. The storage is not touched.
 *
 * @param [in] viewDims length of each dim of the view
 * @param [in] viewDimsNum number of dims, at most 25
 * @param [in] dataType type of an element
 * @param [in] stride distance between neighbours in each dim, in elements, none negative; NULL for row-major contiguous
 * @param [in] offset distance from tensorData to the view's first element, in elements, not negative
 * @param [in] format ACL_FORMAT_ND for the operator of this library
 * @param [in] storageDims length of each dim of the storage; only its extent matters
 * @param [in] storageDimsNum number of dims of the storage; 0 where its extent is not known
 * @param [in] tensorData address of the storage, any alignment; may be NULL and be set later
 * @retval NULL an argument is wrong; aclGetRecentErrMsg says which and why
 * @retval other a handle that aclDestroyTensor ends; any thread may use it
 *
 * @pre `viewDims`, `stride` (both viewDimsNum elements) and `storageDims` (storageDimsNum elements) must be readable.
 */
ACL_FUNC_VISIBILITY
aclTensor *aclCreateTensor(const int64_t *viewDims,
                           uint64_t viewDimsNum,
                           aclDataType dataType,
                           const int64_t *stride,
                           int64_t offset,
                           aclFormat format,
                           const int64_t *storageDims,
                           uint64_t storageDimsNum,
                           void *tensorData);

/**
 * Describes another view with an existing tensor. Executors planned before keep what they were planned with.
 *
 * @param [in] tensor the tensor to change; it stays as it was where an argument is wrong
 * @param [in] viewDims length of each dim of the view
 * @param [in] viewDimsNum number of dims, at most 25
 * @param [in] dataType type of an element
 * @param [in] stride distance between neighbours in each dim, in elements, none negative; NULL for row-major contiguous
 * @param [in] offset distance from tensorData to the view's first element, in elements, not negative
 * @param [in] format ACL_FORMAT_ND for the operator of this library
 * @param [in] storageDims length of each dim of the storage; only its extent matters
 * @param [in] storageDimsNum number of dims of the storage; 0 where its extent is not known
 * @param [in] tensorData address of the storage, any alignment; may be NULL and be set later
 * @retval 0 success
 * @retval 161001 tensor is NULL
 * @retval 161002 tensor is not live, or an argument is wrong
 *
 * @pre `viewDims`, `stride` (both viewDimsNum elements) and `storageDims` (storageDimsNum elements) must be readable.
 */
ACL_FUNC_VISIBILITY
aclnnStatus aclInitTensor(aclTensor *tensor,
                          const int64_t *viewDims,
                          uint64_t viewDimsNum,
                          aclDataType dataType,
                          const int64_t *stride,
                          int64_t offset,
                          aclFormat format,
                          const int64_t *storageDims,
                          uint64_t storageDimsNum,
                          void *tensorData);

/**
 * Ends a tensor. Its storage, and executors that were planned with it, are not affected.
 *
 * @param [in] tensor the tensor; NULL is allowed
 * @retval 0 success
 * @retval 161002 tensor is not live
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyTensor(const aclTensor *tensor);

/**
 * Gets the dims of a tensor's view.
 *
 * @param [in] tensor the tensor
 * @param [out] viewDims a new array, never NULL; the caller releases it with free(), in C++ with delete[]
 * @param [out] viewDimsNum its length
 * @retval 0 success
 * @retval 161001 an argument is NULL
 * @retval 161002 tensor is not live
 *
 * @pre `viewDims` and `viewDimsNum` must be writable.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewShape(const aclTensor *tensor, int64_t **viewDims, uint64_t *viewDimsNum);

/**
 * Gets the dims of a tensor's storage.
 *
 * @param [in] tensor the tensor
 * @param [out] storageDims a new array, never NULL; the caller releases it with free(), in C++ with delete[]
 * @param [out] storageDimsNum its length
 * @retval 0 success
 * @retval 161001 an argument is NULL
 * @retval 161002 tensor is not live
 *
 * @pre `storageDims` and `storageDimsNum` must be writable.
 */
ACL_FUNC_VISIBILITY
aclnnStatus aclGetStorageShape(const aclTensor *tensor,
                               int64_t **storageDims,
                               uint64_t *storageDimsNum);

/**
 * Gets the strides of a tensor's view.
 *
 * @param [in] tensor the tensor
 * @param [out] stridesValue a new array, never NULL; the caller releases it with free(), in C++ with delete[]
 * @param [out] stridesNum its length
 * @retval 0 success
 * @retval 161001 an argument is NULL
 * @retval 161002 tensor is not live
 *
 * @pre `stridesValue` and `stridesNum` must be writable.
 */
ACL_FUNC_VISIBILITY
aclnnStatus aclGetViewStrides(const aclTensor *tensor,
                              int64_t **stridesValue,
                              uint64_t *stridesNum);

/**
 * Gets the distance from a tensor's address to its view's first element.
 *
 * @param [in] tensor the tensor
 * @param [out] offset in elements
 * @retval 0 success
 * @retval 161001 an argument is NULL
 * @retval 161002 tensor is not live
 *
 * @pre `offset` must be writable.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewOffset(const aclTensor *tensor, int64_t *offset);

/**
 * Gets a tensor's format.
 *
 * @param [in] tensor the tensor
 * @param [out] format its format
 * @retval 0 success
 * @retval 161001 an argument is NULL
 * @retval 161002 tensor is not live
 *
 * @pre `format` must be writable.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetFormat(const aclTensor *tensor, aclFormat *format);

/**
 * Gets the type of a tensor's elements.
 *
 * @param [in] tensor the tensor
 * @param [out] dataType its type
 * @retval 0 success
 * @retval 161001 an argument is NULL
 * @retval 161002 tensor is not live
 *
 * @pre `dataType` must be writable.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetDataType(const aclTensor *tensor, aclDataType *dataType);

/**
 * Points a tensor at other storage. Executors that were planned with it keep their addresses.
 *
 * @param [in] tensor the tensor
 * @param [in] addr address of the storage; may be NULL
 * @retval 0 success
 * @retval 161001 tensor is NULL
 * @retval 161002 tensor is not live
 */
ACL_FUNC_VISIBILITY aclnnStatus aclSetRawTensorAddr(aclTensor *tensor, void *addr);

/**
 * Gets the address of a tensor's storage.
 *
 * @param [in] tensor the tensor
 * @param [out] addr what was passed at creation or set last
 * @retval 0 success
 * @retval 161001 an argument is NULL
 * @retval 161002 tensor is not live
 *
 * @pre `addr` must be writable.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetRawTensorAddr(const aclTensor *tensor, void **addr);

/**
 * Makes a scalar from a copy of one value.
 *
 * @param [in] value the value
 * @param [in] dataType its type, one with a fixed size
 * @retval NULL an argument is wrong; aclGetRecentErrMsg says which and why
 * @retval other a handle that aclDestroyScalar ends; any thread may use it
 *
 * @pre `value` must be readable for one value of that type.
 */
ACL_FUNC_VISIBILITY aclScalar *aclCreateScalar(void *value, aclDataType dataType);

/**
 * Ends a scalar.
 *
 * @param [in] scalar the scalar; NULL is allowed
 * @retval 0 success
 * @retval 161002 scalar is not live
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyScalar(const aclScalar *scalar);

/**
 * Makes an array from a copy of the numbers.
 *
 * @param [in] value the numbers; may be NULL where size is 0
 * @param [in] size how many
 * @retval NULL an argument is wrong; aclGetRecentErrMsg says which and why
 * @retval other a handle that aclDestroyIntArray ends; any thread may use it
 *
 * @pre `value` must be readable for `size` elements.
 */
ACL_FUNC_VISIBILITY aclIntArray *aclCreateIntArray(const int64_t *value, uint64_t size);

/**
 * Makes an array from a copy of the numbers.
 *
 * @param [in] value the numbers; may be NULL where size is 0
 * @param [in] size how many
 * @retval NULL an argument is wrong; aclGetRecentErrMsg says which and why
 * @retval other a handle that aclDestroyFloatArray ends; any thread may use it
 *
 * @pre `value` must be readable for `size` elements.
 */
ACL_FUNC_VISIBILITY aclFloatArray *aclCreateFloatArray(const float *value, uint64_t size);

/**
 * Makes an array from a copy of the values.
 *
 * @param [in] value the values; may be NULL where size is 0
 * @param [in] size how many
 * @retval NULL an argument is wrong; aclGetRecentErrMsg says which and why
 * @retval other a handle that aclDestroyBoolArray ends; any thread may use it
 *
 * @pre `value` must be readable for `size` elements.
 */
ACL_FUNC_VISIBILITY aclBoolArray *aclCreateBoolArray(const bool *value, uint64_t size);

/**
 * Makes a list of tensors. It keeps the handles, and ends the tensors when it is destroyed.
 *
 * @param [in] value the tensors, NULL among them allowed; may be NULL where size is 0
 * @param [in] size how many
 * @retval NULL an argument is wrong; aclGetRecentErrMsg says which and why
 * @retval other a handle that aclDestroyTensorList ends; any thread may use it
 *
 * @pre `value` must be readable for `size` elements.
 */
ACL_FUNC_VISIBILITY aclTensorList *aclCreateTensorList(const aclTensor *const *value, uint64_t size);

/**
 * Makes a list of scalars. It keeps the handles, and ends the scalars when it is destroyed.
 *
 * @param [in] value the scalars, NULL among them allowed; may be NULL where size is 0
 * @param [in] size how many
 * @retval NULL an argument is wrong; aclGetRecentErrMsg says which and why
 * @retval other a handle that aclDestroyScalarList ends; any thread may use it
 *
 * @pre `value` must be readable for `size` elements.
 */
ACL_FUNC_VISIBILITY aclScalarList *aclCreateScalarList(const aclScalar *const *value, uint64_t size);

/**
 * Ends an array.
 *
 * @param [in] array the array; NULL is allowed
 * @retval 0 success
 * @retval 161002 array is not live
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyIntArray(const aclIntArray *array);

/**
 * Ends an array.
 *
 * @param [in] array the array; NULL is allowed
 * @retval 0 success
 * @retval 161002 array is not live
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyFloatArray(const aclFloatArray *array);

/**
 * Ends an array.
 *
 * @param [in] array the array; NULL is allowed
 * @retval 0 success
 * @retval 161002 array is not live
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyBoolArray(const aclBoolArray *array);

/**
 * Ends a list and the tensors in it; those that are NULL or not live any more are skipped.
 *
 * @param [in] array the list; NULL is allowed
 * @retval 0 success
 * @retval 161002 array is not live
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyTensorList(const aclTensorList *array);

/**
 * Ends a list and the scalars in it; those that are NULL or not live any more are skipped.
 *
 * @param [in] array the list; NULL is allowed
 * @retval 0 success
 * @retval 161002 array is not live
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyScalarList(const aclScalarList *array);

/**
 * Gets the length of an array.
 *
 * @param [in] array the array
 * @param [out] size its number of elements
 * @retval 0 success
 * @retval 161001 an argument is NULL
 * @retval 161002 array is not live
 *
 * @pre `size` must be writable.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetIntArraySize(const aclIntArray *array, uint64_t *size);

/**
 * Gets the length of an array.
 *
 * @param [in] array the array
 * @param [out] size its number of elements
 * @retval 0 success
 * @retval 161001 an argument is NULL
 * @retval 161002 array is not live
 *
 * @pre `size` must be writable.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetFloatArraySize(const aclFloatArray *array, uint64_t *size);

/**
 * Gets the length of an array.
 *
 * @param [in] array the array
 * @param [out] size its number of elements
 * @retval 0 success
 * @retval 161001 an argument is NULL
 * @retval 161002 array is not live
 *
 * @pre `size` must be writable.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetBoolArraySize(const aclBoolArray *array, uint64_t *size);

/**
 * Gets the length of a list.
 *
 * @param [in] tensorList the list
 * @param [out] size its number of tensors
 * @retval 0 success
 * @retval 161001 an argument is NULL
 * @retval 161002 tensorList is not live
 *
 * @pre `size` must be writable.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetTensorListSize(const aclTensorList *tensorList, uint64_t *size);

/**
 * Gets the length of a list.
 *
 * @param [in] scalarList the list
 * @param [out] size its number of scalars
 * @retval 0 success
 * @retval 161001 an argument is NULL
 * @retval 161002 scalarList is not live
 *
 * @pre `size` must be writable.
 */
ACL_FUNC_VISIBILITY aclnnStatus aclGetScalarListSize(const aclScalarList *scalarList, uint64_t *size);

/**
 * Lets phase two run any number of times on an executor, also from several threads at once with workspaces of their own.
 *
 * @param [in] executor from phase one, not used yet
 * @retval 0 success; aclDestroyAclOpExecutor must end it
 * @retval 561103 executor is NULL or not live
 */
ACL_FUNC_VISIBILITY
aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *executor);

/**
 * Ends an executor that is repeatable, or that was never run. Runs that are queued already finish.
 *
 * @param [in] executor from phase one
 * @retval 0 success
 * @retval 561103 executor is NULL or not live (a one-shot executor ends by its run)
 */
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor);

/**
 * Points an input of a repeatable executor at other storage, for the runs that are launched from now on.
 *
 * The tensor decides: every argument that had it in phase one takes the new address, and the tensor itself does.
 *
 * @param [in] executor repeatable
 * @param [in] index 0 grad_output, 1 input, 2 scale, 3 shift (absent ones are counted)
 * @param [in] tensor one of the tensors of phase one
 * @param [in] addr address of the storage; the view must lie inside the block that it is in
 * @retval 0 success
 * @retval 161002 index, tensor or addr is wrong, or the executor is not repeatable; nothing changes
 * @retval 561103 executor or tensor is NULL, or executor is not live
 */
ACL_FUNC_VISIBILITY
aclnnStatus aclSetInputTensorAddr(aclOpExecutor *executor,
                                  size_t index,
                                  aclTensor *tensor,
                                  void *addr);

/**
 * Points an output of a repeatable executor at other storage. See aclSetInputTensorAddr.
 *
 * @param [in] executor repeatable
 * @param [in] index 0 grad_input, 1 grad_scale, 2 grad_shift (absent ones are counted)
 * @param [in] tensor one of the tensors of phase one
 * @param [in] addr address of the storage; the view must lie inside the block that it is in
 * @retval 0 success
 * @retval 161002 index, tensor or addr is wrong, or the executor is not repeatable; nothing changes
 * @retval 561103 executor or tensor is NULL, or executor is not live
 */
ACL_FUNC_VISIBILITY
aclnnStatus aclSetOutputTensorAddr(aclOpExecutor *executor,
                                   size_t index,
                                   aclTensor *tensor,
                                   void *addr);

/**
 * Points an input or output of a repeatable executor at other storage. See aclSetInputTensorAddr.
 *
 * @param [in] executor repeatable
 * @param [in] index 0 to 3 the inputs, 4 to 6 the outputs (absent ones are counted)
 * @param [in] tensor one of the tensors of phase one
 * @param [in] addr address of the storage; the view must lie inside the block that it is in
 * @retval 0 success
 * @retval 161002 index, tensor or addr is wrong, or the executor is not repeatable; nothing changes
 * @retval 561103 executor or tensor is NULL, or executor is not live
 */
ACL_FUNC_VISIBILITY
aclnnStatus aclSetTensorAddr(aclOpExecutor *executor,
                             size_t index,
                             aclTensor *tensor,
                             void *addr);

/**
 * Sets the address of a tensor in an input list. The operator of this library takes no list: always an error.
 *
 * @param [in] executor repeatable
 * @param [in] irIndex argument
 * @param [in] relativeIndex position in the list
 * @param [in] tensors the list
 * @param [in] addr address of the storage
 * @retval 161002 there is no list argument
 * @retval 561103 executor or tensors is NULL, or executor is not live
 */
ACL_FUNC_VISIBILITY
aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor *executor,
                                         size_t irIndex,
                                         size_t relativeIndex,
                                         aclTensorList *tensors,
                                         void *addr);

/**
 * Sets the address of a tensor in an output list. The operator of this library takes no list: always an error.
 *
 * @param [in] executor repeatable
 * @param [in] irIndex argument
 * @param [in] relativeIndex position in the list
 * @param [in] tensors the list
 * @param [in] addr address of the storage
 * @retval 161002 there is no list argument
 * @retval 561103 executor or tensors is NULL, or executor is not live
 */
ACL_FUNC_VISIBILITY
aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor *executor,
                                          size_t irIndex,
                                          size_t relativeIndex,
                                          aclTensorList *tensors,
                                          void *addr);

/**
 * Sets the address of a tensor in a list. The operator of this library takes no list: always an error.
 *
 * @param [in] executor repeatable
 * @param [in] irIndex argument
 * @param [in] relativeIndex position in the list
 * @param [in] tensors the list
 * @param [in] addr address of the storage
 * @retval 161002 there is no list argument
 * @retval 561103 executor or tensors is NULL, or executor is not live
 */
ACL_FUNC_VISIBILITY
aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor *executor,
                                    size_t irIndex,
                                    size_t relativeIndex,
                                    aclTensorList *tensors,
                                    void *addr);

/**
 * Older name of aclSetInputTensorAddr.
 */
ACL_FUNC_VISIBILITY
aclnnStatus AclSetInputTensorAddr(aclOpExecutor *executor,
                                  size_t index,
                                  aclTensor *tensor,
                                  void *addr);

/**
 * Older name of aclSetOutputTensorAddr.
 */
ACL_FUNC_VISIBILITY
aclnnStatus AclSetOutputTensorAddr(aclOpExecutor *executor,
                                   size_t index,
                                   aclTensor *tensor,
                                   void *addr);

/**
 * Older name of aclSetTensorAddr.
 */
ACL_FUNC_VISIBILITY
aclnnStatus AclSetTensorAddr(aclOpExecutor *executor,
                             size_t index,
                             aclTensor *tensor,
                             void *addr);

/**
 * Older name of aclSetDynamicInputTensorAddr.
 */
ACL_FUNC_VISIBILITY
aclnnStatus AclSetDynamicInputTensorAddr(aclOpExecutor *executor,
                                         size_t irIndex,
                                         size_t relativeIndex,
                                         aclTensorList *tensors,
                                         void *addr);

/**
 * Older name of aclSetDynamicOutputTensorAddr.
 */
ACL_FUNC_VISIBILITY
aclnnStatus AclSetDynamicOutputTensorAddr(aclOpExecutor *executor,
                                          size_t irIndex,
                                          size_t relativeIndex,
                                          aclTensorList *tensors,
                                          void *addr);

/**
 * Older name of aclSetDynamicTensorAddr.
 */
ACL_FUNC_VISIBILITY
aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor *executor,
                                    size_t irIndex,
                                    size_t relativeIndex,
                                    aclTensorList *tensors,
                                    void *addr);

/**
 * Writes an operator's tensors to files once the stream gets there, if dumping is on: if the file given to aclInit has a
 * key dump.dump_path, a directory; dump.dump_mode is input, output (as without it) or all. Otherwise nothing is written.
 *
 * The files are called opType.opName.input.0.npy and so on; an older file is replaced. A name with other characters than
 * A-Z, a-z, 0-9, _ and -, or with more than 80, is made fit and gets a checksum of the whole name at its end. bf16 is written
 * as its bits, with a .json file beside it that says so.
 *
 * @param [in] opType kind of the operator, for the file names
 * @param [in] opName name of the operator, for the file names
 * @param [in] tensors the inputs, then the outputs; NULL for those that are absent. They may be destroyed at once
 * @param [in] inputTensorNum how many inputs
 * @param [in] outputTensorNum how many outputs
 * @param [in] stream NULL for the default stream of the thread's current context
 * @retval 0 success
 * @retval 161001 opType or opName is NULL, or tensors is NULL while there are some
 * @retval 161002 a tensor is not live, has no data, leaves its block, or is of a type that no .npy file can hold
 * @retval 361001 the thread has no current context (call aclrtSetDevice in it), or the stream is not one of its own
 *
 * A file that can't be written makes the stream's next aclrtSynchronizeStream return 507035.
 *
 * @pre `opType` and `opName` must be C strings, `tensors` readable for `inputTensorNum` + `outputTensorNum` elements, and the
 * data of the tensors readable until the stream has done this.
 */
ACL_FUNC_VISIBILITY
aclnnStatus aclDumpOpTensors(const char *opType,
                             const char *opName,
                             aclTensor **tensors,
                             size_t inputTensorNum,
                             size_t outputTensorNum,
                             aclrtStream stream);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ACLNN_ACL_META_H */
