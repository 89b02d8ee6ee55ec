import { codeMailType } from '../vocabulary/code-mail.ts'
import { noticeType } from '../vocabulary/notice.ts'
import { passwordCodeType } from '../vocabulary/password-code.ts'
import { signInType } from '../vocabulary/sign-in.ts'

/** The types of the aggregates that have a user's id and are about that user. */
export const partTypes = ['user', codeMailType, noticeType, passwordCodeType, signInType]
