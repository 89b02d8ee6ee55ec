const en = {
  invitation: 'Your invitation',
  invitationIntro: 'You are invited. Open the invitation to see who invites you, and to accept it.',
  invitationOpen: 'Open the invitation',
  invitationCodeWrong:
    'This invitation does not open: its code is mistyped, or it has expired, was accepted, or was replaced by a newer one. Use the link of the newest mail, or ask whoever invited you for another one.',
  invitationThrottled: 'Too many attempts. Please wait a minute and try again.',
  invited: 'You are invited to {host}.',
  invitedHere: '{inviter} invites you to {host}.',
  invitedBy: '{inviter} invites you to {application} ({host}).',
  invitationKnown: 'You join as {account}.',
  invitationJoin: 'Accept the invitation',
  invitedPerson:
    'The invitation is for another account than the one you are signed in with. Sign in with the account of the invited address.',
  joinByProvider:
    'You join by signing in with {providers}. You will sign in that way from then on, and need no password.',
  joinProved: '{provider} has signed you in. Accept the invitation, and you sign in that way from now on.',
  joinProvedAs:
    '{provider} has signed you in as {account}. Accept the invitation, and you sign in that way from now on.',
  joinOtherwise: 'Sign in differently',
  joinAsException:
    'The people of this organization sign in with {providers}. You will help to manage it, so you choose a password: it lets you in also when that does not work.',
  joinLate: 'It took too long to accept the invitation after the sign-in. Please sign in once more.',
  joinTaken:
    'Whoever signed in there has another account here already. Sign in there as the person who is invited, or ask whoever invited you to invite the address of that account.',
  invitationOver: 'This link has expired',
  invitationOverHint:
    'The invitation has expired, was accepted or taken back, or a newer one was sent. If you have accepted it, sign in to your application. Else ask whoever invited you for another one.',
  invitationRefused: 'This invitation cannot be accepted now',
  invitationRefusedHint:
    'The person who invited you may not give what it promises, or no longer. Nothing has changed. Please ask them for another invitation.',
}

const de: typeof en = {
  invitation: 'Ihre Einladung',
  invitationIntro:
    'Sie sind eingeladen. Öffnen Sie die Einladung, um zu sehen, wer Sie einlädt, und um sie anzunehmen.',
  invitationOpen: 'Einladung öffnen',
  invitationCodeWrong:
    'Diese Einladung lässt sich nicht öffnen: Ihr Code ist vertippt, oder sie ist abgelaufen, angenommen oder durch eine neuere ersetzt. Nehmen Sie den Link der neuesten Mail, oder bitten Sie um eine neue Einladung.',
  invitationThrottled: 'Zu viele Versuche. Bitte warten Sie eine Minute und versuchen Sie es noch einmal.',
  invited: 'Sie sind zu {host} eingeladen.',
  invitedHere: '{inviter} lädt Sie zu {host} ein.',
  invitedBy: '{inviter} lädt Sie zu {application} ({host}) ein.',
  invitationKnown: 'Sie nehmen als {account} teil.',
  invitationJoin: 'Einladung annehmen',
  invitedPerson:
    'Die Einladung ist für ein anderes Konto als das, mit dem Sie angemeldet sind. Melden Sie sich mit dem Konto der eingeladenen Adresse an.',
  joinByProvider:
    'Sie nehmen teil, indem Sie sich mit {providers} anmelden. So melden Sie sich auch in Zukunft an, und ein Passwort brauchen Sie nicht.',
  joinProved: '{provider} hat Sie angemeldet. Nehmen Sie die Einladung an, und Sie melden sich von jetzt an so an.',
  joinProvedAs:
    '{provider} hat Sie als {account} angemeldet. Nehmen Sie die Einladung an, und Sie melden sich von jetzt an so an.',
  joinOtherwise: 'Anders anmelden',
  joinAsException:
    'Die Menschen dieser Organisation melden sich mit {providers} an. Sie werden sie mitverwalten und wählen darum ein Passwort: Damit kommen Sie auch hinein, wenn das einmal nicht geht.',
  joinLate:
    'Nach der Anmeldung hat es zu lange gedauert, bis Sie die Einladung angenommen haben. Bitte melden Sie sich noch einmal an.',
  joinTaken:
    'Wer sich dort angemeldet hat, hat hier schon ein anderes Konto. Melden Sie sich dort als die eingeladene Person an, oder bitten Sie darum, dass die Adresse dieses Kontos eingeladen wird.',
  invitationOver: 'Dieser Link ist abgelaufen',
  invitationOverHint:
    'Die Einladung ist abgelaufen, angenommen oder zurückgezogen, oder es wurde eine neuere geschickt. Wenn Sie sie angenommen haben, melden Sie sich in Ihrer Anwendung an. Sonst bitten Sie um eine neue Einladung.',
  invitationRefused: 'Diese Einladung lässt sich jetzt nicht annehmen',
  invitationRefusedHint:
    'Wer Sie eingeladen hat, darf nicht oder nicht mehr geben, was sie verspricht. Es hat sich nichts geändert. Bitten Sie um eine neue Einladung.',
}

/** The texts of invitations. */
export const invitation = { en, de }
