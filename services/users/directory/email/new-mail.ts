/** What an operation that mails a code answers beside its own message, for ResendMail: the id of the mail. */
export interface NewMail {
  mailId: string
}
