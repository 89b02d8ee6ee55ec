/** The languages of the pages and the mails. The first is the default. */
export const languages = ['en', 'de'] as const
