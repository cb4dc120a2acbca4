/** The indicators of the flat financials, by family. Names of the provider's document come first in each. */
const money = {
  income:
    'Turnover World-Turnover Cost-of-Sales Gross-Profit Operating-Profit Pre-Tax-Profit Profit-after-Tax Retained-Profit Taxation EBITDA EBIT UK-Turnover Export-Turnover Other-Income Other-Operating-Income Operating-Expenses Administrative-Expenses Distribution-Costs Selling-Expenses Exceptional-Items Extraordinary-Items Interest-Paid Interest-Received Net-Interest Dividends Minority-Interests Depreciation Amortisation Impairment Research-And-Development Cost-of-Materials Net-Income Exports',
  balance:
    'Total-Assets Total-Liabilities Net-Assets Total-Current-Assets Total-Fixed-Assets Tangible-Assets Intangible-Assets Goodwill Stocks-And-Work-in-Progress Trade-Debtors Trade-Creditors Working-Capital Cash Total-Current-Liabilities Total-Long-Term-Liabilities Land-And-Buildings Plant-And-Machinery Fixtures-And-Fittings Investments Investments-in-Subsidiaries Other-Debtors Prepayments Accrued-Income Deferred-Income Accruals Deferred-Tax Provisions-for-Liabilities Other-Current-Assets Other-Current-Liabilities Other-Fixed-Assets Marketable-Securities Group-Debtors Group-Creditors Tax-Payable Social-Security-Payable Dividends-Payable Director-Loans Raw-Materials Finished-Goods Pension-Liabilities Contingent-Liabilities',
  debt: 'Bank-Loan Bank-Overdraft Borrowings-due-within-one-year Borrowings-due-after-one-year Total-Long-Term-Loans Hire-Purchase-Commitments Lease-Commitments Subordinated-Liabilities Finance-Leases Bonds Convertible-Debt Group-Loans Other-Short-Term-Loans Other-Long-Term-Loans Net-Debt Gross-Debt',
  capital:
    'Share-Capital Share-Premium Equity-Paid-Up Revaluation-Reserve Sundry-Reserves P-And-L-Account-Reserve Shareholder-Funds Capital-Employed Net-Worth Capital-Redemption-Reserve Merger-Reserve Treasury-Shares Issued-Capital Preference-Shares Hedging-Reserve Translation-Reserve Tangible-Net-Worth',
  cashFlow:
    'Net-Cash-Flow-from-Operations Net-Cash-Flow-from-Financing Net-Cash-Flow-before-Financing Increase-In-Cash Net-Change-In-Cash Net-Tax-Paid Net-Cash-Flow-from-Investing Capital-Expenditure Sale-of-Fixed-Assets Acquisitions-And-Disposals Dividends-Paid Interest-Paid-In-Cash Loans-Received Loans-Repaid Share-Issues Free-Cash-Flow Cash-At-Start Cash-At-End',
  banking:
    'Loans-and-advances-to-banks Loans-and-advances-to-customers Customer-accounts Deposits-by-banks Net-Interest-Income Fees-and-Commission-Expense Gross-Written-Premiums Net-Premiums-Earned Technical-Provisions Reinsurance-Liabilities Fees-and-Commission-Income Trading-Income Debt-Securities Treasury-Bills Claims-Incurred Claims-Outstanding Reinsurance-Assets Unearned-Premiums Investment-Income Loan-Loss-Provisions Derivative-Assets Derivative-Liabilities',
  people:
    'Wages-And-Salaries Employee-Remuneration Directors-Remuneration Pensions Audit-Fees Auditor-Fees Social-Security-Costs Highest-Paid-Director Non-Audit-Fees Directors-Pensions Share-Based-Payments',
};

const ratios =
  'Current-Ratio Liquidity-Ratio Gross-Margin Net-Margin EBITDA-Margin Operating-Profit-Margin Return-On-Assets Return-On-Equity Return-On-Capital-Employed Interest-Coverage-Ratio Debt-To-Capital Gearing-Gross-Debt Gearing-Net-Debt Gearing-Liability Inventory-Turnover-Ratio Days-Sales-Outstanding Days-Payable-Outstanding Days-Inventory-Outstanding Cash-Conversion-Cycle Revenue-Per-Employee Human-Capital-Value-Added Quick-Ratio Cash-Ratio Asset-Turnover Equity-Ratio Debt-To-Equity Debt-To-Assets Fixed-Asset-Turnover Working-Capital-Turnover Pre-Tax-Margin EBIT-Margin Return-On-Net-Assets Profit-Per-Employee Assets-Per-Employee Wages-Per-Employee Effective-Tax-Rate Dividend-Cover Solvency-Ratio Creditor-Days Debtor-Days Stock-Turnover Capital-Intensity';

const split = (text: string): string[] => text.split(' ');

export const moneyIndicators: readonly string[] = Object.values(money).flatMap(split);
export const ratioIndicators: readonly string[] = split(ratios);

/** Year over year, of the main figures of each family. */
export const yoyIndicators: readonly string[] = [
  ...split('Turnover Profit-after-Tax EBITDA Total-Liabilities Employee-Numbers Exports'),
  ...split(money.income).slice(1, 22),
  ...split(money.balance).slice(0, 30),
  ...split(money.debt).slice(0, 8),
  ...split(money.capital).slice(0, 9),
  ...split(money.cashFlow).slice(0, 12),
]
  .filter((name, i, all) => all.indexOf(name) === i)
  .map((name) => `${name}-Yoy`);
